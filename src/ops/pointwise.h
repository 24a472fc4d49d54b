// What the pointwise lowerings share: the dtype an operand is computed in, and a few elementwise
// pieces.
#pragma once

#include "ops/call.h"

namespace torch_tpu::ops {

// Argument i (tensor or number) in opmath(out(0).dtype), broadcast to the result: what arithmetic
// is done on. Differs from Call::operand where the result is of another kind than the promoted
// arguments (float functions of integers).
//
// Like PyTorch, it holds no more precision than the result: the number 0.1 next to a bfloat16
// tensor is 0.10009765625.
Value ResultOperand(const Call& c, int i);
// The same without that rounding: what PyTorch multiplies and divides by.
Value WideOperand(const Call& c, int i);
// x, of an opmath dtype, rounded to what `dtype` holds.
Value RoundTo(Value x, DType dtype);
// Argument i in the promoted dtype of all arguments, unwidened, broadcast to the result. For
// comparisons: a number next to a float16 tensor is rounded to float16 first, as in PyTorch.
Value CommonOperand(const Call& c, int i);
// Number i as a rank-0 value of opmath(out(0).dtype).
Value ResultNumber(const Call& c, int i);

// All true or all false, i1, with the dims of `like`.
Value BoolLike(Value like, bool value);
// The sign bit, i1: true for -0.0 and for NaNs that carry it. False for unsigned integers and
// booleans.
Value SignBit(Value x);
// Magnitude of `magnitude` with the sign bit of `sign`; both of one float dtype.
Value CopySign(Value magnitude, Value sign);
// Rounds to zero. Integers are returned as they are.
Value Truncate(Value x);
// The logarithmic derivative of gamma; infinite at both zeros, as PyTorch has it.
Value Digamma(Value x);
// The largest finite value of a float dtype.
double LargestFinite(DType dtype);

}  // namespace torch_tpu::ops
