// The `reduction` argument of losses and of their gradients.
#pragma once

#include "ops/call.h"

namespace torch_tpu::ops {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

// All elements of `loss` summed, averaged (NaN for no elements) or left alone, as argument i says.
Value ReduceLoss(const Call& c, int i, Value loss);
// The gradient of each element from argument 0 (grad_output) and the reduction in argument i:
// grad_output, divided by `count` under kMean; rank 0 or of the loss's dims.
Value ElementGradient(const Call& c, int i, double count);

}  // namespace torch_tpu::ops
