// Shared pieces of the pointwise lowerings.
#include "ops/pointwise.h"

#include <cmath>
#include <limits>

namespace torch_tpu::ops {

using shlo::broadcast_to;
using shlo::opmath_dtype;

Value RoundTo(Value x, DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return reduce_precision(x, 5, 10);
    case DType::kBF16:
      return reduce_precision(x, 8, 7);
    default:
      return IsReducedFloat(dtype) ? convert(convert(x, dtype), x.dtype()) : x;
  }
}

namespace {

// Whether every value of x is a value of the short float `dtype`.
bool FitsShortFloat(Value x, DType dtype) {
  if (x.dtype() == dtype || DTypeSize(x.dtype()) == 1) return true;
  auto constant = x.builder().SplatConstant(x);
  return constant && std::abs(*constant) <= 2.0 && std::floor(*constant * 2.0) == *constant * 2.0;
}

}  // namespace

Value ResultOperand(const Call& c, int i) {
  Value x = c.tensor(i);
  DType out = c.out().dtype;
  Value y = convert(x, opmath_dtype(out));
  if (IsReducedFloat(out) && !FitsShortFloat(x, out)) y = RoundTo(y, out);
  return broadcast_to(y, c.out().dims);
}

Value WideOperand(const Call& c, int i) {
  return broadcast_to(convert(c.tensor(i), opmath_dtype(c.out().dtype)), c.out().dims);
}

Value CommonOperand(const Call& c, int i) {
  return broadcast_to(convert(c.tensor(i), c.common_dtype()), c.out().dims);
}

Value ResultNumber(const Call& c, int i) {
  return convert(c.number(i), opmath_dtype(c.out().dtype));
}

Value BoolLike(Value like, bool value) {
  return constant(like.builder(), int{value}, {DType::kPred, like.dims()});
}

namespace {

// The signed integer as wide as `dtype`.
DType BitsOf(DType dtype) {
  switch (DTypeSize(dtype)) {
    case 1:
      return DType::kS8;
    case 2:
      return DType::kS16;
    case 4:
      return DType::kS32;
    default:
      return DType::kS64;
  }
}

}  // namespace

Value SignBit(Value x) {
  if (IsFloat(x.dtype())) return bitcast_convert(x, BitsOf(x.dtype())) < 0.0;
  if (IsSigned(x.dtype())) return x < 0.0;
  return BoolLike(x, false);
}

Value CopySign(Value magnitude, Value sign) {
  Value positive = abs(magnitude);
  return where(SignBit(sign), -positive, positive);
}

Value Truncate(Value x) {
  if (!IsFloat(x.dtype())) return x;
  return where(x < 0.0, ceil(x), floor(x));
}

double LargestFinite(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 65504.0;
    case DType::kBF16:
      return 0x1.FEp127;
    case DType::kF32:
      return std::numeric_limits<float>::max();
    case DType::kF64:
      return std::numeric_limits<double>::max();
    case DType::kF8E4M3FN:
      return 448.0;
    case DType::kF8E4M3FNUZ:
      return 240.0;
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
      return 57344.0;
    default:
      throw shlo::BuildError("no largest finite value for " + std::string(DTypeName(dtype)));
  }
}

}  // namespace torch_tpu::ops
