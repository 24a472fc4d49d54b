// Bitwise operators and shifts of integers and booleans.
#include "ops/pointwise.h"

namespace torch_tpu::ops {
namespace {

Value BitwiseAnd(Call& c) { return ResultOperand(c, 0) & ResultOperand(c, 1); }
Value BitwiseOr(Call& c) { return ResultOperand(c, 0) | ResultOperand(c, 1); }
Value BitwiseXor(Call& c) { return ResultOperand(c, 0) ^ ResultOperand(c, 1); }

LOWER("aten::bitwise_and", BitwiseAnd);
LOWER("aten::bitwise_or", BitwiseOr);
LOWER("aten::bitwise_xor", BitwiseXor);

// True where PyTorch shifts all bits out: a negative amount or one of at least the width.
Value ShiftsAllOut(Value amount) {
  double width = 8.0 * static_cast<double>(DTypeSize(amount.dtype()));
  Value too_far = amount >= width;
  return IsSigned(amount.dtype()) ? too_far | (amount < 0.0) : too_far;
}

Value LeftShift(Call& c) {
  Value x = ResultOperand(c, 0), amount = ResultOperand(c, 1);
  Value out = ShiftsAllOut(amount);
  return where(out, 0.0, shift_left(x, where(out, 0.0, amount)));
}

Value RightShift(Call& c) {
  Value x = ResultOperand(c, 0), amount = ResultOperand(c, 1);
  Value out = ShiftsAllOut(amount);
  amount = where(out, 0.0, amount);
  if (!IsSigned(x.dtype())) return where(out, 0.0, shift_right_logical(x, amount));
  Value sign_only = where(x < 0.0, full_like(x, -1.0), 0.0);
  return where(out, sign_only, shift_right_arithmetic(x, amount));
}

LOWER("aten::bitwise_left_shift", LeftShift);
LOWER("aten::__lshift__", LeftShift);
LOWER("aten::bitwise_right_shift", RightShift);
LOWER("aten::__rshift__", RightShift);

}  // namespace
}  // namespace torch_tpu::ops
