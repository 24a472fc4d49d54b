// Max pooling with indices, fixed and adaptive windows, and its gradient.
#include <algorithm>
#include <functional>

#include "ops/pool.h"

namespace torch_tpu::ops {
namespace {

Value Zeros(const Call& c, int k = 0) { return shlo::constant(c.builder(), 0, c.out(k)); }

bool Empty(Value x) { return NumElements(x.dims()) == 0; }

// self, kernel_size, stride, padding, dilation, ceil_mode
template <int kRank>
Results MaxPool(Call& c) {
  Value x = c.tensor(0);
  if (Empty(x)) return {Zeros(c, 0), Zeros(c, 1)};
  const Pooling p = ReadPooling(c, 1, kRank, true);
  const DType index_type = PlaneIndexType(x.dims(), kRank);
  Value index = PlaneIndex(c.builder(), x.dims(), kRank, index_type);
  const shlo::Window window = PoolingWindow(&x, p, c.out().dims);
  PoolingWindow(&index, p, c.out().dims);
  // Padding holds the greatest index, so that an element of -inf wins over it.
  const Value operands[] = {x, index};
  const Value inits[] = {shlo::min_value(c.builder(), x.dtype()),
                         shlo::max_value(c.builder(), index_type)};
  Results pair = shlo::reduce_window(operands, inits, window, LargerPair);
  // Values have a window of their own, so that the costlier pair is dropped from a program in which
  // nobody reads the indices.
  pair[0] =
      shlo::reduce_window(x, inits[0], window, [](Value a, Value b) { return shlo::max(a, b); });
  return pair;
}

// Calls `visit` with every position of a window.
void ForEachOffset(const Dims& kernel, const std::function<void(const Dims&)>& visit) {
  Dims offset(kernel.size(), 0);
  for (int64_t left = NumElements(kernel); left > 0; --left) {
    visit(offset);
    for (size_t d = kernel.size(); d-- > 0;) {
      if (++offset[d] < kernel[d]) break;
      offset[d] = 0;
    }
  }
}

// The gradient without a scatter: for each position within the window, the windows whose maximum
// lies there, spread over the input. It all fuses into one loop.
Value SpreadMaxima(Value dy, Value indices, const Pooling& p, const Dims& dims) {
  const size_t leading = dims.size() - p.kernel.size();
  Builder& b = dy.builder();
  Value zero = shlo::scalar(b, 0.0, dy.dtype());
  Value first;  // plane index of each window's first element
  Dims steps(p.kernel.size(), 1);
  for (size_t d = p.kernel.size(); d-- > 0;) {
    if (d + 1 < steps.size()) steps[d] = steps[d + 1] * dims[leading + d + 1];
    Value along = shlo::index_like(dy, static_cast<int64_t>(leading + d), indices.dtype());
    along = (along * static_cast<double>(p.stride[d]) - static_cast<double>(p.padding[d])) *
            static_cast<double>(steps[d]);
    first = first ? first + along : along;
  }
  Value offset_of_max = indices - first;
  Value sum;
  ForEachOffset(p.kernel, [&](const Dims& offset) {
    int64_t distance = 0;
    Dims low(leading, 0), high(leading, 0), interior(leading, 0);
    for (size_t d = 0; d < p.kernel.size(); ++d) {
      distance += offset[d] * p.dilation[d] * steps[d];
      low.push_back(offset[d] * p.dilation[d] - p.padding[d]);
      const int64_t extent = (dy.dims()[leading + d] - 1) * p.stride[d] + 1;
      high.push_back(dims[leading + d] - low.back() - extent);
      interior.push_back(p.stride[d] - 1);
    }
    Value hit = shlo::where(offset_of_max == static_cast<double>(distance), dy, zero);
    Value part = shlo::pad(hit, zero, low, high, interior);
    sum = sum ? sum + part : part;
  });
  return sum;
}

// The same from the input: no index is read, so that a program that holds forward and backward
// needs none. `dy` and `x` have one dtype.
Value ScatterToMaxima(Value dy, Value x, const Pooling& p) {
  const Dims dims = x.dims();
  const shlo::Window window = PoolingWindow(&x, p, dy.dims());
  Value zero = shlo::scalar(dy.builder(), 0.0, dy.dtype());
  // The first of equal values and the last NaN, as the forward pass.
  Value dx = shlo::select_and_scatter(
      x, dy, zero, window,
      [](Value kept, Value next) { return !((next > kept) | shlo::is_nan(next)); }, shlo::add);
  Dims none(dims.size(), 0), cut(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) cut[d] = dims[d] - dx.dims()[d];
  return shlo::pad(dx, zero, none, cut, none);
}

// grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices
template <int kRank>
Value MaxPoolBackward(Call& c) {
  constexpr int64_t kMostUnrolled = 64;
  const Dims dims = c.tensor(1).dims();
  Value dy = shlo::opmath(c.tensor(0));
  if (Empty(dy)) return Zeros(c);
  const Pooling p = ReadPooling(c, 2, kRank, true);
  // XLA's CPU client scatters one element after the other; a TPU has an instruction sequence for
  // it.
  if (c.target() == Target::kTpu &&
      std::ranges::all_of(p.dilation, [](int64_t d) { return d == 1; })) {
    return ScatterToMaxima(dy, shlo::convert(c.tensor(1), dy.dtype()), p);
  }
  Value indices = shlo::convert(c.tensor(7), PlaneIndexType(dims, kRank));
  if (NumElements(p.kernel) <= kMostUnrolled) return SpreadMaxima(dy, indices, p, dims);
  return AddAtPlaneIndices(dy, indices, dims, kRank);
}

// Splits dim `dim` of x into [out, taps]: the elements of each adaptive window, the last one
// repeated where a window is shorter than the longest.
Value AdaptiveTaps(Value x, int64_t dim, int64_t out) {
  const int64_t in = x.dim(dim);
  Dims dims = x.dims();
  dims[static_cast<size_t>(dim)] = out;
  if (in % out == 0) {
    dims.insert(dims.begin() + dim + 1, in / out);
    return shlo::reshape(x, dims);
  }
  int64_t taps = 1;
  for (int64_t o = 0; o < out; ++o) {
    taps = std::max(taps, ((o + 1) * in + out - 1) / out - o * in / out);
  }
  const TensorType table{DType::kS32, {out, taps, 1}};
  Value o = shlo::iota(x.builder(), 0, table) * static_cast<double>(in);
  Value start = o / static_cast<double>(out);
  Value last = (o + static_cast<double>(in - 1)) / static_cast<double>(out);
  Value index = shlo::min(start + shlo::iota(x.builder(), 1, table), last);
  shlo::GatherDims gather;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i != dim) gather.offset_dims.push_back(i < dim ? i : i + 1);
  }
  gather.collapsed_slice_dims = {dim};
  gather.start_index_map = {dim};
  gather.index_vector_dim = 2;
  Dims slice = x.dims();
  slice[static_cast<size_t>(dim)] = 1;
  return shlo::gather(x, index, gather, slice);
}

// self, output_size. Dims are reduced one after the other; indices settle ties, so the order does
// not matter.
template <int kRank>
Results AdaptiveMaxPool(Call& c) {
  Value x = c.tensor(0);
  if (NumElements(c.out().dims) == 0) return {Zeros(c, 0), Zeros(c, 1)};
  const DType index_type = PlaneIndexType(x.dims(), kRank);
  std::vector<Value> pair = {x, PlaneIndex(c.builder(), x.dims(), kRank, index_type)};
  const Value inits[] = {shlo::min_value(c.builder(), x.dtype()),
                         shlo::max_value(c.builder(), index_type)};
  for (int64_t dim = x.rank() - kRank; dim < x.rank(); ++dim) {
    for (Value& v : pair) v = AdaptiveTaps(v, dim, c.out().dims[static_cast<size_t>(dim)]);
    pair = shlo::reduce(pair, inits, {dim + 1}, LargerPair);
  }
  return pair;
}

// grad_output, self, indices
template <int kRank>
Value AdaptiveMaxPoolBackward(Call& c) {
  Value dy = shlo::opmath(c.tensor(0));
  if (Empty(dy)) return Zeros(c);
  const Dims dims = c.tensor(1).dims();
  return AddAtPlaneIndices(dy, shlo::convert(c.tensor(2), PlaneIndexType(dims, kRank)), dims,
                           kRank);
}

LOWER("aten::max_pool2d_with_indices", MaxPool<2>);
LOWER("aten::max_pool3d_with_indices", MaxPool<3>);
LOWER("aten::max_pool2d_with_indices_backward", MaxPoolBackward<2>);
LOWER("aten::max_pool3d_with_indices_backward", MaxPoolBackward<3>);
LOWER("aten::adaptive_max_pool2d", AdaptiveMaxPool<2>);
LOWER("aten::adaptive_max_pool3d", AdaptiveMaxPool<3>);
LOWER("aten::adaptive_max_pool2d_backward", AdaptiveMaxPoolBackward<2>);
LOWER("aten::adaptive_max_pool3d_backward", AdaptiveMaxPoolBackward<3>);

}  // namespace
}  // namespace torch_tpu::ops
