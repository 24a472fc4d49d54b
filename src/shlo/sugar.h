// How lowerings write formulas: operators with rank-0 broadcasting, numbers as operands, and shape
// helpers.
//
// Rule for a binary operator: when one side has rank 0 and the other has not, it is converted to
// the other's dtype and broadcast to its dims. C++ numbers become constants of the other side's
// dtype. Anything else must already agree.
#pragma once

#include <initializer_list>
#include <vector>

#include "shlo/ops.h"

namespace torch_tpu::shlo {

// A splat constant like `like` (same dims and dtype).
Value full_like(Value like, double value);
Value scalar(Builder& b, double value, DType dtype);
Value scalar(Builder& b, int64_t value, DType dtype);
// The largest / smallest value of a dtype as rank 0 (infinities for floats): identities of min and
// max.
Value max_value(Builder& b, DType dtype);
Value min_value(Builder& b, DType dtype);

Value operator+(Value lhs, Value rhs);
Value operator-(Value lhs, Value rhs);
Value operator*(Value lhs, Value rhs);
Value operator/(Value lhs, Value rhs);
Value operator-(Value operand);
Value operator&(Value lhs, Value rhs);
Value operator|(Value lhs, Value rhs);
Value operator^(Value lhs, Value rhs);
// Logical: not of bool, x == 0 of numbers. The result is a Value that does not convert to bool, so
// that the mistake `if (!v)`, which means `if (v.empty())`, does not compile.
struct Negation : Value {
  Negation(Value v) : Value(v) {}  // NOLINT: implicit on purpose
  explicit operator bool() const = delete;
};
Negation operator!(Value operand);
Value operator==(Value lhs, Value rhs);
Value operator!=(Value lhs, Value rhs);
Value operator<(Value lhs, Value rhs);
Value operator<=(Value lhs, Value rhs);
Value operator>(Value lhs, Value rhs);
Value operator>=(Value lhs, Value rhs);
#define TORCH_TPU_NUMBER_OPERATOR(op)       \
  Value operator op(Value lhs, double rhs); \
  Value operator op(double lhs, Value rhs);
TORCH_TPU_NUMBER_OPERATOR(+)
TORCH_TPU_NUMBER_OPERATOR(-)
TORCH_TPU_NUMBER_OPERATOR(*)
TORCH_TPU_NUMBER_OPERATOR(/)
TORCH_TPU_NUMBER_OPERATOR(==)
TORCH_TPU_NUMBER_OPERATOR(!=)
TORCH_TPU_NUMBER_OPERATOR(<)
TORCH_TPU_NUMBER_OPERATOR(<=)
TORCH_TPU_NUMBER_OPERATOR(>)
TORCH_TPU_NUMBER_OPERATOR(>=)
#undef TORCH_TPU_NUMBER_OPERATOR
// select with the same rank-0 broadcasting on all three operands (pred may be broadcast too), and
// maximum, minimum.
Value where(Value pred, Value on_true, Value on_false);
Value where(Value pred, Value on_true, double on_false);
Value where(Value pred, double on_true, Value on_false);
Value max(Value lhs, Value rhs);  // NaN from either side is kept, as in PyTorch
Value min(Value lhs, Value rhs);
Value is_nan(Value operand);  // i1; false for non-floats, either part for complex

// --- shapes -------------------------------------------------------------------------------------
// NumPy broadcasting to `dims`: leading dims are added, size-1 dims stretched.
Value broadcast_to(Value operand, const Dims& dims);
// Common NumPy-broadcast dims; throws BuildError in PyTorch's words when sizes do not fit.
Dims broadcast_dims(std::span<const Dims> all);
// Adds a size-1 dimension at `dim` (negative from the end of the result) / removes it.
Value unsqueeze(Value operand, int64_t dim);
Value squeeze(Value operand, int64_t dim);
// Swaps two dims.
Value swap_dims(Value operand, int64_t a, int64_t b);
// operand[..., start:limit:step, ...] along one dim, static.
Value slice_dim(Value operand, int64_t dim, int64_t start, int64_t limit, int64_t step = 1);
// Index numbers along `dim` with the given dims: iota of dtype.
Value index_like(Value like, int64_t dim, DType dtype = DType::kS64);
// dim in [-rank, rank) to [0, rank); rank 0 counts as 1. Throws BuildError otherwise.
int64_t wrap_dim(int64_t dim, int64_t rank);

// --- reductions over dims; kept dims have size 1 when keepdim -----------------------------------
Value reduce_sum(Value operand, const Dims& dims, bool keepdim = false);
Value reduce_prod(Value operand, const Dims& dims, bool keepdim = false);
Value reduce_max(Value operand, const Dims& dims, bool keepdim = false);  // NaN propagates
Value reduce_min(Value operand, const Dims& dims, bool keepdim = false);
Value reduce_any(Value operand, const Dims& dims, bool keepdim = false);  // i1
Value reduce_all(Value operand, const Dims& dims, bool keepdim = false);

// --- precision ----------------------------------------------------------------------------------
// float16, bfloat16 and float8 to float32, everything else unchanged: the dtype PyTorch computes
// in.
DType opmath_dtype(DType dtype);
Value opmath(Value operand);

}  // namespace torch_tpu::shlo
