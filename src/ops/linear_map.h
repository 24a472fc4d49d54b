// Tensors whose spatial dims are resampled: one small matrix a dim, forward as a product, backward
// as its transpose.
#pragma once

#include <span>

#include "ops/call.h"

namespace torch_tpu::ops {

// maps[i], of dims [out, in], replaces dim i of the last maps.size() dims of x: y[.., o, ..] =
// sum_i m[o, i] x[.., i, ..]. With `adjoint` the maps act transposed. At full precision; x and the
// maps have one dtype.
Value ApplyMaps(Value x, std::span<const Value> maps, bool adjoint);

// Row numbers (output positions) and column numbers (input positions) of a map, as `dtype`.
Value MapRows(Builder& b, int64_t out, int64_t in, DType dtype);
Value MapColumns(Builder& b, int64_t out, int64_t in, DType dtype);

}  // namespace torch_tpu::ops
