// What the normalisation families share: moments and the gradient of x -> (x - mean) * rstd.
#pragma once

#include "ops/call.h"

namespace torch_tpu::ops {

// Mean over `dims`, kept with size 1.
Value MeanOver(Value x, const Dims& dims);

// Mean and biased variance over `dims`, kept with size 1. Two passes: the variance is of the
// centred values.
struct Moments {
  Value mean, variance;
};
Moments MomentsOver(Value x, const Dims& dims);

// The gradient in x of x_hat = (x - mean) * rstd, for moments over `dims`; rstd has those dims of
// size 1.
Value NormalizeBackward(Value dx_hat, Value x_hat, Value rstd, const Dims& dims);

// v broadcast to the dims of `like`, by NumPy's rule.
inline Value Like(Value v, Value like) { return shlo::broadcast_to(v, like.dims()); }

// Numbers first, first + 1, ..., last - 1.
Dims DimRange(int64_t first, int64_t last);

}  // namespace torch_tpu::ops
