// StableHLO and CHLO operations as free functions, in StableHLO's own names. Each checks shapes and
// dtypes as the specification says and throws BuildError when they do not fit. No implicit
// broadcasting or conversion here; see sugar.h for the forms that lowerings use.
#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shlo/builder.h"

namespace torch_tpu::shlo {

// --- constants ----------------------------------------------------------------------------------
// Splat of `value` with the given type. int64_t wraps into the width of an integer type; a double
// that is no value of an integer type is refused. Narrow floats round through float32, as in
// PyTorch; what overflows becomes infinity. Bool is `value != 0`.
Value constant(Builder& b, double value, const TensorType& type);
Value constant(Builder& b, int64_t value, const TensorType& type);
Value constant(Builder& b, std::complex<double> value, const TensorType& type);
inline Value constant(Builder& b, int value, const TensorType& type) {
  return constant(b, int64_t{value}, type);
}
// Dense rank-1 integer constant (small tables only; big ones are computed from iota).
Value constant(Builder& b, std::span<const int64_t> values, DType dtype);
Value constant(Builder& b, std::span<const double> values, DType dtype);
Value iota(Builder& b, int64_t dimension, const TensorType& type);

// --- elementwise unary: same type in and out (abs of complex gives real) ------------------------
// clang-format off: it has two fixed points for this macro
#define TORCH_TPU_SHLO_UNARY(X) \
  X(abs) X(cbrt) X(ceil) X(cosine) X(count_leading_zeros) X(exponential) \
  X(exponential_minus_one) X(floor) X(log) X(log_plus_one) X(logistic) \
  X(negate) X(popcnt) X(round_nearest_afz) X(round_nearest_even) X(rsqrt) \
  X(sign) X(sine) X(sqrt) X(tan) X(tanh)
// clang-format on
#define X(name) Value name(Value operand);
TORCH_TPU_SHLO_UNARY(X)
#undef X
Value not_(Value operand);  // logical on i1, bitwise on integers
Value is_finite(Value operand);
Value real(Value operand);
Value imag(Value operand);
Value convert(Value operand, DType dtype);  // no-op when already `dtype`
Value bitcast_convert(Value operand, DType dtype);
Value reduce_precision(Value operand, int exponent_bits, int mantissa_bits);

// CHLO, unary, float: expanded by the plugin.
// clang-format off: it has two fixed points for this macro
#define TORCH_TPU_CHLO_UNARY(X) \
  X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) \
  X(bessel_i1e) X(cosh) X(digamma) X(erf) X(erf_inv) \
  X(erfc) X(lgamma) X(sinh)
// clang-format on
#define X(name) Value name(Value operand);
TORCH_TPU_CHLO_UNARY(X)
#undef X
Value is_inf(Value operand);
Value is_neg_inf(Value operand);
Value is_pos_inf(Value operand);

// --- elementwise binary: equal types ------------------------------------------------------------
// clang-format off: it has two fixed points for this macro
#define TORCH_TPU_SHLO_BINARY(X) \
  X(add) X(atan2) X(divide) X(maximum) X(minimum) X(multiply) \
  X(power) X(remainder) X(subtract) X(shift_left) X(shift_right_arithmetic) \
  X(shift_right_logical)
// clang-format on
#define X(name) Value name(Value lhs, Value rhs);
TORCH_TPU_SHLO_BINARY(X)
#undef X
Value and_(Value lhs, Value rhs);
Value or_(Value lhs, Value rhs);
Value xor_(Value lhs, Value rhs);
Value complex(Value re, Value im);
Value next_after(Value lhs, Value rhs);  // chlo
Value polygamma(Value n, Value x);       // chlo
Value zeta(Value x, Value q);            // chlo

enum class Direction { kEq, kNe, kLt, kLe, kGt, kGe };
// i1 result. Floats compare as IEEE (NaN is unequal to all); `total_order` uses the total order
// instead.
Value compare(Value lhs, Value rhs, Direction direction, bool total_order = false);
Value select(Value pred, Value on_true, Value on_false);  // pred: i1 of rank 0 or of the same dims
Value clamp(Value min, Value operand, Value max);         // min, max rank 0 or same dims

// --- shape --------------------------------------------------------------------------------------
Value broadcast_in_dim(Value operand, const Dims& result_dims, const Dims& broadcast_dimensions);
Value reshape(Value operand, const Dims& dims);  // no-op when dims are equal; folds with another
// The operand of the reshape that made `v`, or `v`.
Value Unreshaped(Value v);
// For each of the dims `to` the dims of `from` whose product it is, in order. None if a reshape
// from one to the other does more than merge dims, or nothing is in it.
std::optional<std::vector<Dims>> MergedDims(const Dims& from, const Dims& to);
Value transpose(Value operand, const Dims& permutation);
Value slice(Value operand, const Dims& start, const Dims& limit, const Dims& strides);
Value dynamic_slice(Value operand, std::span<const Value> starts, const Dims& sizes);
Value dynamic_update_slice(Value operand, Value update, std::span<const Value> starts);
// Negative low or high padding crops. interior is applied between elements.
Value pad(Value operand, Value padding_value, const Dims& low, const Dims& high,
          const Dims& interior);
Value concatenate(std::span<const Value> operands, int64_t dimension);
Value reverse(Value operand, const Dims& dimensions);

// --- reductions, windows, control flow ----------------------------------------------------------
using Body = std::function<std::vector<Value>(std::span<const Value>)>;
using Combine = std::function<Value(Value lhs, Value rhs)>;
// Reduces `dimensions` (removed from the result). `body` receives accumulators then elements, all
// rank 0.
std::vector<Value> reduce(std::span<const Value> operands, std::span<const Value> inits,
                          const Dims& dimensions, const Body& body);
Value reduce(Value operand, Value init, const Dims& dimensions, const Combine& combine);
// Keeps a lambda from choosing std::reduce, which Dims would bring in by argument-dependent lookup.
template <typename F>
  requires std::is_invocable_r_v<Value, F, Value, Value>
Value reduce(Value operand, Value init, const Dims& dimensions, F combine) {
  return reduce(operand, init, dimensions, Combine(std::move(combine)));
}
struct Window {  // one entry a dimension of the operand
  Dims dimensions, strides, base_dilations, window_dilations, padding_low, padding_high;
};
std::vector<Value> reduce_window(std::span<const Value> operands, std::span<const Value> inits,
                                 const Window& window, const Body& body);
Value reduce_window(Value operand, Value init, const Window& window, const Combine& combine);
// `select` says of two rank-0 values whether the first one, which is selected so far, stays.
Value select_and_scatter(Value operand, Value source, Value init, const Window& window,
                         const Combine& select, const Combine& scatter);
// Stable sort along `dimension`; `less` receives (lhs0, rhs0, lhs1, rhs1, ...), rank 0, and returns
// i1.
std::vector<Value> sort(std::span<const Value> operands, int64_t dimension,
                        const std::function<Value(std::span<const Value>)>& less,
                        bool stable = true);
std::vector<Value> while_(std::span<const Value> init,
                          const std::function<Value(std::span<const Value>)>& condition,
                          const Body& body);
std::vector<Value> if_(Value pred, const std::function<std::vector<Value>()>& on_true,
                       const std::function<std::vector<Value>()>& on_false);

// --- dot, convolution, fft, linear algebra ------------------------------------------------------
enum class Precision { kDefault, kHigh, kHighest };
struct DotDims {
  Dims lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};
// Result: batch dims, free dims of lhs, free dims of rhs; element type `result_dtype` (default:
// lhs's).
Value dot_general(Value lhs, Value rhs, const DotDims& dims,
                  Precision precision = Precision::kDefault, DType result_dtype = DType::kInvalid);
struct ConvDims {  // positions in the operand, kernel and output types
  int64_t input_batch, input_feature;
  Dims input_spatial;
  int64_t kernel_input_feature, kernel_output_feature;
  Dims kernel_spatial;
  int64_t output_batch, output_feature;
  Dims output_spatial;
};
struct ConvWindow {  // one entry a spatial dimension
  Dims strides, padding_low, padding_high, lhs_dilation, rhs_dilation;
  std::vector<bool> reversal;
};
Value convolution(Value lhs, Value rhs, const ConvDims& dims, const ConvWindow& window,
                  int64_t feature_groups = 1, int64_t batch_groups = 1,
                  Precision precision = Precision::kDefault, DType result_dtype = DType::kInvalid);
enum class FftKind { kFft, kIfft, kRfft, kIrfft };
Value fft(Value operand, FftKind kind, const Dims& lengths);
Value cholesky(Value operand, bool lower);
Value triangular_solve(Value a, Value b, bool left_side, bool lower, bool unit_diagonal,
                       bool transpose_a, bool adjoint_a = false);

// --- gather, scatter, random, others ------------------------------------------------------------
struct GatherDims {
  Dims offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims,
      start_index_map;
  int64_t index_vector_dim = 0;
};
// Out-of-range starts clamp (StableHLO's rule).
Value gather(Value operand, Value start_indices, const GatherDims& dims, const Dims& slice_sizes,
             bool indices_are_sorted = false);
struct ScatterDims {
  Dims update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims,
      scatter_dims_to_operand_dims;
  int64_t index_vector_dim = 0;
};
// Out-of-range updates are skipped (StableHLO's rule).
Value scatter(Value input, Value indices, Value updates, const ScatterDims& dims,
              const Combine& combine, bool indices_are_sorted = false, bool unique_indices = false);
std::vector<Value> scatter(std::span<const Value> inputs, Value indices,
                           std::span<const Value> updates, const ScatterDims& dims,
                           const Body& body, bool indices_are_sorted = false,
                           bool unique_indices = false);
// By the algorithm that the plugin prefers (a TPU has its own, of a tenth of the cost). `state` is
// ui64[2]; returns {new state, bits of `type` (ui8..ui64)}.
std::pair<Value, Value> rng_bit_generator(Value state, const TensorType& type);
std::vector<Value> custom_call(Builder& b, const std::string& target,
                               std::span<const Value> operands, std::vector<TensorType> results,
                               std::vector<Attribute> attributes, bool has_side_effect = false,
                               int api_version = 4);
Value optimization_barrier(Value operand);

}  // namespace torch_tpu::shlo
