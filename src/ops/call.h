// What a lowering sees of one ATen call, and how lowerings are registered.
//
// A lowering is a pure function from StableHLO values and static attributes to StableHLO values. It
// sees the arguments of the *functional* schema, by position; in-place, out= and foreach forms are
// derived by the caller and look the same to it. Tensors arrive as values of their logical sizes
// (views already read), row-major.
//
// What the caller does for every lowering
//   * Output shapes and dtypes are known before (PyTorch's Meta kernels): `out(k)`. A returned
//   value whose dtype
//     differs is converted to out(k).dtype, one whose dims differ but broadcast to out(k).dims is
//     broadcast; anything else is an error that names the operator.
//   * Python numbers (Scalar and float arguments) are operands of the program: `number(i)` is a
//   rank-0 value that
//     changes without recompiling. A lowering that needs the number itself to choose the program's
//     shape or structure declares it: LOWER("aten::foo", Foo, {.static_numbers = {2}}). The values
//     0, 1, -1, 2 and 0.5 are always constants, so `number_is(i, 1)` may be used to leave out a
//     multiplication.
//   * int, int[], bool, str, dtype, ... arguments are static and enter the cache key.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "shlo/sugar.h"

namespace torch_tpu::ops {

using shlo::Builder;
using shlo::TensorType;
using shlo::Value;

// A number argument. `constant` is set when the value is part of the program.
struct Number {
  DType dtype = DType::kInvalid;  // kS64, kF64/kF32, kPred or kC128: what the number is in Python
  std::optional<std::complex<double>> constant;  // known value (exact for integers up to 2^53)
  Value operand;                                 // rank 0
};

struct Argument {
  // monostate: None (or an omitted optional tensor).
  std::variant<std::monostate, Value, std::vector<Value>, std::vector<std::optional<Value>>, Number,
               std::vector<Number>, bool, int64_t, Dims, std::vector<bool>, std::string, DType>
      v;
};

// Random bits for a call: the host gives a fresh (seed, offset) pair on each launch.
struct RngState {
  Value state;  // ui64[2], for shlo::rng_bit_generator
};

// A condition that must hold, evaluated in Debug mode only: rank-0 i1 and the message of the error
// raised.
struct Check {
  Value ok;
  std::string message;
  bool index_error = true;  // IndexError, else RuntimeError
};

// What a program is compiled for. A lowering asks only where no formulation is good for both.
enum class Target : uint8_t { kCpu, kTpu };

class Call {
 public:
  Call(Builder& builder, std::string_view name) : builder_(builder), name_(name) {}

  Builder& builder() const { return builder_; }
  const std::string& name() const { return name_; }  // "aten::add.Tensor"

  // --- arguments by position in the functional schema; a wrong kind throws BuildError naming
  // operator and position ---
  int size() const { return static_cast<int>(args.size()); }
  bool has(int i) const;      // not None and not past the end
  Value tensor(int i) const;  // a tensor, or a number as a rank-0 value
  std::optional<Value> opt_tensor(int i) const;
  std::vector<Value> tensors(int i) const;                     // Tensor[]
  std::vector<std::optional<Value>> opt_tensors(int i) const;  // Tensor?[]
  Value number(int i) const;                  // Scalar, float: rank 0, of the number's own dtype
  std::vector<Value> numbers(int i) const;    // Scalar[], float[]
  bool number_is(int i, double value) const;  // known constant equal to value
  double static_number(int i) const;          // a declared static number
  int64_t integer(int i) const;
  int64_t integer_or(int i, int64_t fallback) const;  // fallback for None
  bool boolean(int i) const;
  bool boolean_or(int i, bool fallback) const;
  Dims ints(int i) const;  // int[]; a single int gives one entry
  std::optional<Dims> opt_ints(int i) const;
  std::vector<bool> bools(int i) const;
  std::string string(int i) const;
  std::optional<std::string> opt_string(int i) const;
  std::optional<DType> opt_dtype(int i) const;
  // Whether tensor argument i is dense and row-major as PyTorch sees it. Values are row-major
  // whatever the layout; only operators ask whose saved results depend on it (the LU factors that
  // the gradients of solve and det read).
  bool contiguous(int i) const { return static_cast<size_t>(i) >= strided.size() || !strided[i]; }

  // --- outputs ---
  const TensorType& out(int k = 0) const { return outs[k]; }
  int num_outs() const { return static_cast<int>(outs.size()); }

  // The dtype that PyTorch's promotion rules give over all tensor and number arguments
  // (at::result_type).
  DType common_dtype() const { return common; }
  // Argument i (tensor or number) converted to opmath(common_dtype()) and broadcast to out(0).dims:
  // what a pointwise operator computes on.
  Value operand(int i) const;

  // --- effects ---
  Value rng_state();  // ui64[2], fresh on every launch; once per call
  void check_index(Value ok,
                   std::string message);      // Debug mode: IndexError unless all of `ok` hold
  void check(Value ok, std::string message);  // Debug mode: RuntimeError
  bool debug() const { return debug_mode; }
  // Of products and convolutions: the user's choice where the lowering declares `precision`, else
  // the highest.
  shlo::Precision precision() const { return dot_precision; }
  Target target() const { return compile_target; }

  // --- filled by the caller (graph/) ---
  std::vector<Argument> args;
  std::vector<TensorType> outs;
  std::vector<bool>
      strided;  // by argument: a tensor that is not contiguous; missing entries are contiguous
  DType common = DType::kInvalid;
  shlo::Precision dot_precision = shlo::Precision::kDefault;
  Target compile_target = Target::kTpu;
  bool debug_mode = false;
  std::optional<Value> rng;
  bool used_rng = false;
  std::vector<Check> checks;

 private:
  Builder& builder_;
  std::string name_;
};

// One value per tensor that the functional schema returns. Undefined (None) outputs are empty
// Values.
using Results = std::vector<Value>;
using Lowering = Results (*)(Call&);

struct LoweringOptions {
  std::vector<int> static_numbers =
      {};  // positions of Scalar/float arguments that decide the program's structure
  std::vector<int> static_integers = {};  // the same for those that decide only when integers
  bool random = false;                    // draws random bits: one (seed, offset) pair a launch
  bool precision =
      false;  // its products and convolutions are the user's, at the precision he chose
  int zero_draws_nothing = -1;  // with random: no bits are drawn when this Number is the constant 0
  // Output dtype/shape when PyTorch has no Meta kernel for the operator: see shape function below.
  std::vector<TensorType> (*shape)(const Call& call) =
      nullptr;  // sees tensor args as typed placeholders
};

struct LoweringEntry {
  std::string
      name;  // "aten::elu" (all overloads of the base name) or "aten::max.dim" (that overload only)
  Lowering fn = nullptr;  // exactly one of fn and value_fn is set
  Value (*value_fn)(Call&) = nullptr;
  LoweringOptions options;
  const char* file = "";
  int line = 0;
};

// The registry is filled before main and read-only after. `overload` as in "aten::max.dim"; an
// exact entry wins over one of the base name. Null when there is none.
const LoweringEntry* FindLowering(std::string_view overload);
std::vector<const LoweringEntry*> AllLowerings();  // sorted by name
// Names registered more than once, with the places: "aten::elu at a.cc:3 and b.cc:7". The first one
// counts.
std::vector<std::string> DuplicateLowerings();

struct Registrar {
  Registrar(const char* name, Lowering fn, const char* file, int line,
            LoweringOptions options = {});
  Registrar(const char* name, Value (*fn)(Call&), const char* file, int line,
            LoweringOptions options = {});
};

// LOWER("aten::elu", Elu); LOWER("aten::bernoulli", Bernoulli, {.random = true});
#define LOWER(name, fn, ...)                                                          \
  static const ::torch_tpu::ops::Registrar TORCH_TPU_CONCAT(registrar_, __COUNTER__)( \
      name, fn, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__)

}  // namespace torch_tpu::ops
