// Matrix products as lowerings use them: accumulation dtype and precision are settled in one place.
#pragma once

#include "ops/call.h"

namespace torch_tpu::ops {

// dot_general at the call's precision. Half types accumulate in float32, which is the result's
// dtype; all others keep theirs. Both sides have the same dtype.
Value Dot(const Call& c, Value lhs, Value rhs, const shlo::DotDims& dims);

// lhs[..., n, k] x rhs[..., k, m] with equal leading dims, by Dot.
Value MatMul(const Call& c, Value lhs, Value rhs);

// How the last two dims of a factor are read.
enum class Side { kPlain, kTransposed };
// As MatMul, with either factor read transposed (not conjugated).
Value MatMul(const Call& c, Value lhs, Side lhs_side, Value rhs, Side rhs_side);

}  // namespace torch_tpu::ops
