// What the pooling families share: window arguments, the window over the last dims, indices within
// a plane.
#pragma once

#include <span>

#include "ops/call.h"

namespace torch_tpu::ops {

// Windows over the last `kernel.size()` dims of a tensor; the dims before them are planes.
struct Pooling {
  Dims kernel, stride, padding, dilation;

  int64_t rank() const { return static_cast<int64_t>(kernel.size()); }
};

// kernel_size, stride (empty: the kernel's), padding and, when `dilated`, dilation, from argument
// `first` on. One number stands for all `rank` dims.
Pooling ReadPooling(const Call& c, int first, int64_t rank, bool dilated);

// The reduce_window window with exactly `out` positions in each of the last dims. Elements of *x
// past the last window are cut off, since a window may not have negative padding.
shlo::Window PoolingWindow(Value* x, const Pooling& p, const Dims& out);

// For each element of `dims`, its row-major index among the last `rank` dims.
Value PlaneIndex(Builder& b, const Dims& dims, int64_t rank, DType dtype);
// A type that holds all indices of a plane.
DType PlaneIndexType(const Dims& dims, int64_t rank);

// Combines (value, index, value, index), all rank 0, into the pair that max pooling keeps: the
// larger value, of equal ones the first index, and NaN (the last one) before everything.
std::vector<Value> LargerPair(std::span<const Value> pairs);

// Adds values[..., o...] into zeros of `dims` at the plane indices of the same dims.
Value AddAtPlaneIndices(Value values, Value indices, const Dims& dims, int64_t rank);

}  // namespace torch_tpu::ops
