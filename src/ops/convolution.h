// The three maps that all convolutions and their gradients are made of. Output sizes are given,
// never computed.
#pragma once

#include "ops/call.h"

namespace torch_tpu::ops {

struct ConvGeometry {
  Dims stride, padding, dilation;  // one entry a spatial dim
  int64_t groups = 1;
};

// All dims but the first two.
Dims Spatial(const Dims& dims);

// x[n, groups * i, ...] with w[o, i, ...]: y[n, o, ...] of spatial dims `out`.
Value Correlate(const Call& c, Value x, Value w, const ConvGeometry& g, const Dims& out);
// The adjoint of Correlate in x: y[n, o, ...] with w[o, i, ...] to [n, groups * i, ...] of spatial
// dims `in`.
Value CorrelateInputAdjoint(const Call& c, Value y, Value w, const ConvGeometry& g, const Dims& in);
// The adjoint of Correlate in w: x[n, groups * i, ...] with y[n, o, ...] to [o, i, ...] of spatial
// dims `kernel`.
Value CorrelateWeightAdjoint(const Call& c, Value x, Value y, const ConvGeometry& g,
                             const Dims& kernel);

}  // namespace torch_tpu::ops
