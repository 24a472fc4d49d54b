// Pieces that activations share with their gradients.
#pragma once

#include "ops/pointwise.h"

namespace torch_tpu::ops {

// Number i that the input is compared with: rounded to what the result holds, so that an input of
// 0.3 in bfloat16 lies at a bound of 0.3.
inline Value Bound(const Call& c, int i) { return RoundTo(ResultNumber(c, i), c.out().dtype); }

// log(1 + exp(x)) without overflow.
inline Value Softplus(Value x) {
  return max(x, full_like(x, 0.0)) + log_plus_one(exponential(-abs(x)));
}

}  // namespace torch_tpu::ops
