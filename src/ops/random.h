// Random draws that the random operators share. Each call of these draws once from Call::rng_state
// and so may be made once for one Call; more numbers are drawn by asking for more dims.
#pragma once

#include "ops/call.h"

namespace torch_tpu::ops {

// Uniform bits of an unsigned dtype (kU32 or kU64).
Value RandomBits(Call& c, DType dtype, const Dims& dims);
// Uniform numbers k / 2^bits of [0, 1), as many bits as `as` has in its significand; in opmath(as),
// exact in `as`.
Value UniformUnit(Call& c, DType as, const Dims& dims);
// Uniform numbers of (0, 1), symmetric about 0.5, kF32 or kF64.
Value UniformOpen(Call& c, DType dtype, const Dims& dims);
// Standard normal numbers, kF32 or kF64.
Value StandardNormal(Call& c, DType dtype, const Dims& dims);
// Exponential numbers of rate 1, above 0 and finite, kF32 or kF64.
Value StandardExponential(Call& c, DType dtype, const Dims& dims);

}  // namespace torch_tpu::ops
