// Everything that is static about one call: what a program is built from, free of buffers and of
// PyTorch.
//
// A CallSpec is made once per signature. Its operands are what differs from launch to launch: base
// values of tensors, numbers, slice starts, random seeds. Strict mode turns one CallSpec into one
// program; a Trace (a decomposition today) strings several together into one program.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "cache/key.h"
#include "graph/value.h"
#include "ops/call.h"
#include "views/view.h"

namespace torch_tpu::graph {

// How a tensor argument is read (or written): which operand holds its base, and the view over it.
struct TensorSpec {
  int operand = -1;                 // base value; -1 when the base is a splat known to the program
  std::optional<ScalarBits> splat;  // with operand -1: every element is this
  bool splat_operand = false;  // the operand is a rank-0 element of the base dtype, to be broadcast
  views::Base base;
  DType dtype = DType::kInvalid;
  Dims sizes;
  bool whole = true;       // the view is the whole base (reshape only)
  bool contiguous = true;  // PyTorch's own answer for the tensor
  views::Plan plan;        // when not whole
  int first_start = -1;    // operand of the first slice start, when plan.dynamic

  bool rank0_number = false;  // a 0-dim host tensor: the operand is its only element
};

struct NumberSpec {
  DType dtype = DType::kInvalid;  // kS64, kF64, kPred, kC128: the kind of Python number
  std::optional<std::complex<double>> constant;  // part of the program
  int operand = -1;
};

struct ArgSpec {
  std::variant<std::monostate, TensorSpec, std::vector<std::optional<TensorSpec>>, NumberSpec,
               std::vector<NumberSpec>, bool, int64_t, Dims, std::vector<bool>, std::string, DType>
      v;
  bool optional_list = false;  // a Tensor?[] rather than a Tensor[]
};

struct OutputSpec {
  enum Kind : uint8_t {
    kNone,   // the lowering's result is dropped (an absent optional output)
    kFresh,  // a new value, in memory order
    kWrite,  // the new base of an argument after writing the result through its view
  };
  Kind kind = kFresh;
  TensorType type;    // logical: what the lowering returns (Meta's answer)
  Dims order;         // kFresh: logical dims in memory order; empty means row-major
  TensorSpec target;  // kWrite; target.dtype is the dtype stored
  TensorType result;  // the program's output: dims in memory order, or the new base
};

struct Trace;

// One application of a lowering (or of a traced decomposition). A foreach call has one a list
// element.
struct SubCall {
  const ops::LoweringEntry* lowering = nullptr;
  std::shared_ptr<const Trace> trace;  // when there is no lowering
  std::vector<ArgSpec> args;
  std::vector<OutputSpec> outputs;
  DType common = DType::kInvalid;
  bool random = false;  // takes the next seed operand
};

struct CallSpec {
  std::string name;                  // "aten::add.Tensor"
  cache::Key key;                    // of the program; `options` is the runtime's
  std::vector<TensorType> operands;  // program arguments, in order
  std::vector<SubCall> calls;
  int seed_operand = -1;  // first of `num_seeds` ui64[2] operands
  int num_seeds = 0;
  std::vector<ValueRef>
      captured;  // buffers that a trace found in its surroundings: the last operands
  bool debug = false;
  shlo::Precision precision = shlo::Precision::kDefault;
  ops::Target target = ops::Target::kTpu;
  // operand -> output whose buffer it may become, for donation.
  std::vector<std::pair<int, int>> aliases;

  std::vector<const TensorType*> result_types;  // of the program outputs, where calls are recorded

  int num_results() const;  // program outputs, without checks
};

// A recorded sequence of calls over placeholders.
struct Trace {
  struct Binding {
    enum Kind : uint8_t { kPlaceholder, kNode, kConstant, kSeed, kCaptured } kind;
    int index = 0;    // placeholder, node, seed or captured number
    int output = 0;   // kNode
    ScalarBits bits;  // kConstant: an element of the operand's type
  };
  struct Node {
    std::shared_ptr<const CallSpec> spec;
    std::vector<Binding> operands;
    std::string file;  // and line of the Python program that made the call; empty: not recorded
    int line = 0;
  };
  // A result: where its base comes from and how it is read.
  struct Output {
    bool defined = true;
    Binding source;
    TensorSpec read;  // operand unused
  };
  uint64_t id = 0;
  std::vector<TensorType> placeholders;  // values of the tensor arguments, in memory order
  std::vector<Node> nodes;
  std::vector<Output> outputs;
  int num_seeds = 0;
  std::vector<ValueRef> captured;
};

// Emits the call: `operands` are values of spec.operands. Gives the program outputs in order (all
// SubCalls' kFresh and kWrite results) and appends Debug checks. Throws shlo::BuildError.
std::vector<shlo::Value> EmitCall(const CallSpec& spec, shlo::Builder& builder,
                                  std::span<const shlo::Value> operands,
                                  std::vector<ops::Check>* checks);

struct Module {
  std::string text;
  int num_results = 0;              // then one i1 per check
  std::vector<std::string> checks;  // messages
  std::vector<bool> check_is_index;
};

// The StableHLO module of one call.
Result<Module> BuildModule(const CallSpec& spec);

}  // namespace torch_tpu::graph
