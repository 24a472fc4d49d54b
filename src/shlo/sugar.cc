// The forms that lowerings use, in terms of ops.h.
#include "shlo/sugar.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "shlo/check.h"

namespace torch_tpu::shlo {
namespace {

using BinaryOp = Value (*)(Value, Value);

Value Fit(Value v, const TensorType& type) {
  return broadcast_in_dim(convert(v, type.dtype), type.dims, {});
}

// The rank-0 rule of the header.
void FitRankZero(Value& lhs, Value& rhs) {
  if (lhs.rank() == 0 && rhs.rank() != 0) lhs = Fit(lhs, rhs.type());
  if (rhs.rank() == 0 && lhs.rank() != 0) rhs = Fit(rhs, lhs.type());
}

Value Apply(BinaryOp op, Value lhs, Value rhs) {
  FitRankZero(lhs, rhs);
  return op(lhs, rhs);
}

// Addition of i1 means "or", but the plugin's simplifier makes x + x of a constant x a false.
Value AddOrOr(Value lhs, Value rhs) {
  return lhs.dtype() == DType::kPred ? or_(lhs, rhs) : add(lhs, rhs);
}

Value Compare(Value lhs, Value rhs, Direction direction) {
  FitRankZero(lhs, rhs);
  return compare(lhs, rhs, direction);
}

Value Limit(Builder& b, DType dtype, bool largest) {
  TensorType type{dtype, {}};
  int64_t bits = 8 * DTypeSize(dtype);
  switch (KindOf(dtype)) {
    case kPredKind:
      return constant(b, int64_t{largest}, type);
    case kSignedKind: {
      int64_t max = std::numeric_limits<int64_t>::max() >> (64 - bits);
      return constant(b, largest ? max : -max - 1, type);
    }
    case kUnsignedKind:
      return constant(b, largest ? int64_t{-1} : int64_t{0}, type);
    case kFloatKind: {
      double infinity = std::numeric_limits<double>::infinity();
      if (dtype == DType::kF8E4M3FN) infinity = 448;
      if (dtype == DType::kF8E4M3FNUZ) infinity = 240;
      if (dtype == DType::kF8E5M2FNUZ) infinity = 57344;
      return constant(b, largest ? infinity : -infinity, type);
    }
    default:
      throw BuildError("complex numbers have no largest value");
  }
}

// Wrapped, distinct, ascending; a rank-0 operand has no dimension to reduce.
Dims ReducedDims(Value operand, const Dims& dims) {
  Dims out;
  for (int64_t d : dims) {
    int64_t wrapped = wrap_dim(d, operand.rank());
    if (operand.rank() > 0) out.push_back(wrapped);
  }
  std::sort(out.begin(), out.end());
  CheckDistinctDims("reduction", "dims", out, operand.rank());
  return out;
}

Value Reduce(Value operand, Value init, const Dims& dims, bool keepdim, BinaryOp op) {
  Dims reduced = ReducedDims(operand, dims);
  if (reduced.empty()) return operand;
  Value out = reduce(operand, init, reduced, [op](Value a, Value b) { return op(a, b); });
  if (!keepdim) return out;
  Dims kept = operand.dims();
  for (int64_t d : reduced) kept[d] = 1;
  return reshape(out, kept);
}

Value ReduceNumbers(std::string_view name, Value operand, int64_t init, const Dims& dims,
                    bool keepdim, BinaryOp op) {
  CheckKind(name, "operand", operand, kAnyKind & ~kPredKind);
  return Reduce(operand, scalar(operand.builder(), init, operand.dtype()), dims, keepdim, op);
}

}  // namespace

Value full_like(Value like, double value) { return constant(like.builder(), value, like.type()); }
Value scalar(Builder& b, double value, DType dtype) {
  return constant(b, value, TensorType{dtype, {}});
}
Value scalar(Builder& b, int64_t value, DType dtype) {
  return constant(b, value, TensorType{dtype, {}});
}
Value max_value(Builder& b, DType dtype) { return Limit(b, dtype, true); }
Value min_value(Builder& b, DType dtype) { return Limit(b, dtype, false); }

Value operator+(Value lhs, Value rhs) { return Apply(AddOrOr, lhs, rhs); }
Value operator-(Value lhs, Value rhs) { return Apply(subtract, lhs, rhs); }
Value operator*(Value lhs, Value rhs) { return Apply(multiply, lhs, rhs); }
Value operator/(Value lhs, Value rhs) { return Apply(divide, lhs, rhs); }
Value operator-(Value operand) { return negate(operand); }
Value operator&(Value lhs, Value rhs) { return Apply(and_, lhs, rhs); }
Value operator|(Value lhs, Value rhs) { return Apply(or_, lhs, rhs); }
Value operator^(Value lhs, Value rhs) { return Apply(xor_, lhs, rhs); }
Negation operator!(Value operand) {
  return operand.dtype() == DType::kPred ? not_(operand) : operand == 0.0;
}
Value operator==(Value lhs, Value rhs) { return Compare(lhs, rhs, Direction::kEq); }
Value operator!=(Value lhs, Value rhs) { return Compare(lhs, rhs, Direction::kNe); }
Value operator<(Value lhs, Value rhs) { return Compare(lhs, rhs, Direction::kLt); }
Value operator<=(Value lhs, Value rhs) { return Compare(lhs, rhs, Direction::kLe); }
Value operator>(Value lhs, Value rhs) { return Compare(lhs, rhs, Direction::kGt); }
Value operator>=(Value lhs, Value rhs) { return Compare(lhs, rhs, Direction::kGe); }
#define NUMBER_OPERATOR(op)                                                       \
  Value operator op(Value lhs, double rhs) { return lhs op full_like(lhs, rhs); } \
  Value operator op(double lhs, Value rhs) { return full_like(rhs, lhs) op rhs; }
NUMBER_OPERATOR(+)
NUMBER_OPERATOR(-)
NUMBER_OPERATOR(*)
NUMBER_OPERATOR(/)
NUMBER_OPERATOR(==)
NUMBER_OPERATOR(!=)
NUMBER_OPERATOR(<)
NUMBER_OPERATOR(<=)
NUMBER_OPERATOR(>)
NUMBER_OPERATOR(>=)
#undef NUMBER_OPERATOR

Value where(Value pred, Value on_true, Value on_false) {
  FitRankZero(on_true, on_false);
  pred = convert(pred, DType::kPred);
  if (on_true.rank() == 0 && pred.rank() != 0) {
    on_true = broadcast_in_dim(on_true, pred.dims(), {});
    on_false = broadcast_in_dim(on_false, pred.dims(), {});
  }
  return select(pred, on_true, on_false);
}

Value where(Value pred, Value on_true, double on_false) {
  return where(pred, on_true, full_like(on_true, on_false));
}
Value where(Value pred, double on_true, Value on_false) {
  return where(pred, full_like(on_false, on_true), on_false);
}

Value max(Value lhs, Value rhs) {
  return Apply(lhs.dtype() == DType::kPred ? or_ : maximum, lhs, rhs);
}
Value min(Value lhs, Value rhs) {
  return Apply(lhs.dtype() == DType::kPred ? and_ : minimum, lhs, rhs);
}

Value is_nan(Value operand) {
  if (!IsFloat(operand.dtype()) && !IsComplex(operand.dtype())) {
    return constant(operand.builder(), 0, TensorType{DType::kPred, operand.dims()});
  }
  return compare(operand, operand, Direction::kNe);
}

Value broadcast_to(Value operand, const Dims& dims) {
  int64_t added = static_cast<int64_t>(dims.size()) - operand.rank();
  if (added < 0) {
    throw BuildError("broadcast_to: " + operand.type().ToString() + " has more dimensions than " +
                     DimsToString(dims));
  }
  Dims map(operand.rank());
  std::iota(map.begin(), map.end(), added);
  return broadcast_in_dim(operand, dims, map);
}

Dims broadcast_dims(std::span<const Dims> all) {
  Dims out;
  for (const Dims& dims : all) {
    if (dims.size() > out.size()) out.insert(out.begin(), dims.size() - out.size(), 1);
    size_t offset = out.size() - dims.size();
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t& size = out[offset + i];
      if (size != dims[i] && size != 1 && dims[i] != 1) {
        throw BuildError("The size of tensor a (" + std::to_string(size) +
                         ") must match the size of tensor b (" + std::to_string(dims[i]) +
                         ") at non-singleton dimension " + std::to_string(offset + i));
      }
      if (size == 1) size = dims[i];
    }
  }
  return out;
}

Value unsqueeze(Value operand, int64_t dim) {
  Dims dims = operand.dims();
  dims.insert(dims.begin() + wrap_dim(dim, operand.rank() + 1), 1);
  return reshape(operand, dims);
}

Value squeeze(Value operand, int64_t dim) {
  Dims dims = operand.dims();
  int64_t wrapped = wrap_dim(dim, operand.rank());
  if (dims.empty()) return operand;
  if (dims[wrapped] != 1) {
    throw BuildError("squeeze: dimension " + std::to_string(dim) + " of " +
                     operand.type().ToString() + " is not 1");
  }
  dims.erase(dims.begin() + wrapped);
  return reshape(operand, dims);
}

Value swap_dims(Value operand, int64_t a, int64_t b) {
  Dims permutation(operand.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  a = wrap_dim(a, operand.rank());
  b = wrap_dim(b, operand.rank());
  if (a == b) return operand;
  std::swap(permutation[a], permutation[b]);
  return transpose(operand, permutation);
}

Value slice_dim(Value operand, int64_t dim, int64_t start, int64_t limit, int64_t step) {
  dim = wrap_dim(dim, operand.rank());
  Dims starts(operand.rank(), 0), limits = operand.dims(), strides(operand.rank(), 1);
  if (operand.rank() == 0) throw BuildError("slice_dim: a rank-0 value cannot be sliced");
  starts[dim] = start;
  limits[dim] = limit;
  strides[dim] = step;
  return slice(operand, starts, limits, strides);
}

Value index_like(Value like, int64_t dim, DType dtype) {
  Builder& b = like.builder();
  if (like.rank() == 0) {
    wrap_dim(dim, 0);
    return scalar(b, int64_t{0}, dtype);
  }
  return iota(b, wrap_dim(dim, like.rank()), {dtype, like.dims()});
}

int64_t wrap_dim(int64_t dim, int64_t rank) {
  int64_t n = std::max<int64_t>(rank, 1);
  if (dim < -n || dim >= n) {
    throw BuildError("Dimension out of range (expected to be in range of [" + std::to_string(-n) +
                     ", " + std::to_string(n - 1) + "], but got " + std::to_string(dim) + ")");
  }
  return dim < 0 ? dim + n : dim;
}

Value reduce_sum(Value operand, const Dims& dims, bool keepdim) {
  return ReduceNumbers("reduce_sum", operand, 0, dims, keepdim, add);
}

Value reduce_prod(Value operand, const Dims& dims, bool keepdim) {
  return ReduceNumbers("reduce_prod", operand, 1, dims, keepdim, multiply);
}

Value reduce_max(Value operand, const Dims& dims, bool keepdim) {
  return Reduce(operand, min_value(operand.builder(), operand.dtype()), dims, keepdim, max);
}

Value reduce_min(Value operand, const Dims& dims, bool keepdim) {
  return Reduce(operand, max_value(operand.builder(), operand.dtype()), dims, keepdim, min);
}

Value reduce_any(Value operand, const Dims& dims, bool keepdim) {
  Value pred = convert(operand, DType::kPred);
  return Reduce(pred, scalar(pred.builder(), int64_t{0}, DType::kPred), dims, keepdim, or_);
}

Value reduce_all(Value operand, const Dims& dims, bool keepdim) {
  Value pred = convert(operand, DType::kPred);
  return Reduce(pred, scalar(pred.builder(), int64_t{1}, DType::kPred), dims, keepdim, and_);
}

DType opmath_dtype(DType dtype) { return IsReducedFloat(dtype) ? DType::kF32 : dtype; }

Value opmath(Value operand) { return convert(operand, opmath_dtype(operand.dtype())); }

}  // namespace torch_tpu::shlo
