// Pieces that activations share with their gradients.
#pragma once

#include "ops/pointwise.h"

namespace torch_tpu::ops {

// log(1 + exp(x)) without overflow.
inline Value Softplus(Value x) {
  return max(x, full_like(x, 0.0)) + log_plus_one(exponential(-abs(x)));
}

}  // namespace torch_tpu::ops
