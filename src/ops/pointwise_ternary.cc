// Pointwise operators of three operands: bounds, interpolation, selection, and complex numbers from
// parts.
#include "ops/pointwise.h"

namespace torch_tpu::ops {
namespace {

using shlo::broadcast_to;

// clamp(self, min, max): a missing bound is None; the upper bound wins where they cross; NaN
// anywhere gives NaN.
Value Clamp(Call& c) {
  Value x = ResultOperand(c, 0);
  if (c.has(1)) x = max(x, ResultOperand(c, 1));
  if (c.has(2)) x = min(x, ResultOperand(c, 2));
  return x;
}

Value ClampMin(Call& c) { return max(ResultOperand(c, 0), ResultOperand(c, 1)); }
Value ClampMax(Call& c) { return min(ResultOperand(c, 0), ResultOperand(c, 1)); }

LOWER("aten::clamp", Clamp);
LOWER("aten::clamp_min", ClampMin);
LOWER("aten::clamp_max", ClampMax);

Value AddScaled(Call& c, Value term) {
  if (!c.number_is(3, 1)) term = term * ResultNumber(c, 3);
  return ResultOperand(c, 0) + term;
}

// addcmul(self, tensor1, tensor2, value)
Value Addcmul(Call& c) { return AddScaled(c, ResultOperand(c, 1) * ResultOperand(c, 2)); }
Value Addcdiv(Call& c) { return AddScaled(c, ResultOperand(c, 1) / ResultOperand(c, 2)); }

// lerp(self, end, weight): counted from the nearer end, so that weight 1 gives `end` exactly.
Value Lerp(Call& c) {
  Value start = ResultOperand(c, 0), end = ResultOperand(c, 1), weight = WideOperand(c, 2);
  Value span = end - start;
  return where(abs(weight) < 0.5, start + weight * span, end - span * (1.0 - weight));
}

LOWER("aten::addcmul", Addcmul);
LOWER("aten::addcdiv", Addcdiv);
LOWER("aten::lerp", Lerp);

Value OutOperand(Call& c, int i) {
  return broadcast_to(convert(c.tensor(i), c.out().dtype), c.out().dims);
}

Value Mask(Call& c, int i) {
  return broadcast_to(convert(c.tensor(i), DType::kPred), c.out().dims);
}

Value Where(Call& c) { return select(Mask(c, 0), OutOperand(c, 1), OutOperand(c, 2)); }

// masked_fill(self, mask, value)
Value MaskedFill(Call& c) {
  Value mask = Mask(c, 1), value = OutOperand(c, 2);
  return select(mask, value, OutOperand(c, 0));
}

LOWER("aten::where.self", Where);
LOWER("aten::where.ScalarOther", Where);
LOWER("aten::where.ScalarSelf", Where);
LOWER("aten::where.Scalar", Where);
LOWER("aten::masked_fill", MaskedFill);

Value PartOperand(Call& c, int i) {
  if (c.tensor(0).dtype() != c.tensor(1).dtype()) {
    throw shlo::BuildError(c.name() + ": expected two tensors of one dtype");
  }
  return broadcast_to(convert(c.tensor(i), RealType(c.out().dtype)), c.out().dims);
}

Value Complex(Call& c) { return complex(PartOperand(c, 0), PartOperand(c, 1)); }

Value Polar(Call& c) {
  Value length = PartOperand(c, 0), angle = PartOperand(c, 1);
  return complex(length * cosine(angle), length * sine(angle));
}

LOWER("aten::complex", Complex);
LOWER("aten::polar", Polar);

}  // namespace
}  // namespace torch_tpu::ops
