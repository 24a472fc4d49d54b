// Convolutions of one, two and three dimensions, plain and transposed, and their gradients.
//
// Three maps are enough: Correlate (the plain forward), its adjoint in the input, and its adjoint
// in the weight. A transposed convolution is the second used forward; its gradients are the first
// and the third with roles exchanged. Output sizes are given, never computed, so that rounding in
// the size formula and output_padding need no cases.
#include "ops/convolution.h"

#include <algorithm>
#include <numeric>

namespace torch_tpu::ops {
namespace {

// One number stands for all spatial dims.
Dims Expand(Dims values, size_t rank) {
  if (values.size() == 1) values.resize(rank, values[0]);
  return values;
}

// Arguments stride, padding, dilation start at `first`, groups is at first + 5.
ConvGeometry ReadGeometry(const Call& c, int first, int64_t rank) {
  const size_t n = static_cast<size_t>(rank);
  const Dims padding = c.ints(first + 1);
  if (std::any_of(padding.begin(), padding.end(), [](int64_t p) { return p < 0; })) {
    throw shlo::BuildError(c.name() + ": negative padding is not supported");
  }
  return {Expand(c.ints(first), n), Expand(padding, n), Expand(c.ints(first + 2), n),
          c.integer(first + 5)};
}

Dims SpatialPositions(int64_t rank) {
  Dims positions(static_cast<size_t>(rank));
  std::iota(positions.begin(), positions.end(), 2);
  return positions;
}

shlo::ConvDims PlainDims(int64_t rank) {
  const Dims spatial = SpatialPositions(rank);
  return {0, 1, spatial, 1, 0, spatial, 0, 1, spatial};
}

// Extent of `size` elements that lie `step` apart.
int64_t Extent(int64_t size, int64_t step) { return size == 0 ? 0 : (size - 1) * step + 1; }

// Sets the high padding with which a window of extent `window`, moved by `stride`, has exactly
// `out` positions over an operand of extent `in` padded by `low`. It may be negative (elements that
// no window reaches).
int64_t HighPadding(int64_t in, int64_t low, int64_t window, int64_t stride, int64_t out) {
  return Extent(out, stride) - 1 + window - in - low;
}

Value Zeros(const Call& c, DType dtype, const Dims& dims) {
  return shlo::constant(c.builder(), 0, {shlo::opmath_dtype(dtype), dims});
}

bool Empty(Value x) { return NumElements(x.dims()) == 0; }

Value Convolve(const Call& c, Value lhs, Value rhs, const shlo::ConvDims& dims,
               const shlo::ConvWindow& window, int64_t feature_groups, int64_t batch_groups) {
  return shlo::convolution(lhs, rhs, dims, window, feature_groups, batch_groups, c.precision(),
                           shlo::opmath_dtype(lhs.dtype()));
}

}  // namespace

Dims Spatial(const Dims& dims) { return Dims(dims.begin() + 2, dims.end()); }

Value Correlate(const Call& c, Value x, Value w, const ConvGeometry& g, const Dims& out) {
  const size_t rank = out.size();
  Dims result = {x.dim(0), w.dim(0)};
  result.insert(result.end(), out.begin(), out.end());
  if (Empty(x) || Empty(w) || NumElements(result) == 0) return Zeros(c, x.dtype(), result);
  shlo::ConvWindow window{g.stride, g.padding, {}, Dims(rank, 1), g.dilation, {}};
  for (size_t i = 0; i < rank; ++i) {
    window.padding_high.push_back(HighPadding(x.dims()[i + 2], g.padding[i],
                                              Extent(w.dims()[i + 2], g.dilation[i]), g.stride[i],
                                              out[i]));
  }
  window.reversal.assign(rank, false);
  return Convolve(c, x, w, PlainDims(static_cast<int64_t>(rank)), window, g.groups, 1);
}

namespace {

// w[groups * o, i, ...] to [groups * i, o, ...], each kernel reversed: the kernel of the adjoint in
// the input.
Value AdjointKernel(Value w, int64_t groups) {
  Dims split = w.dims();
  split[0] /= groups;
  split.insert(split.begin(), groups);
  Dims permutation(split.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[1], permutation[2]);
  Value swapped = shlo::transpose(shlo::reshape(w, split), permutation);
  Dims merged = w.dims();
  merged[0] = groups * w.dim(1);
  merged[1] = w.dim(0) / groups;
  return shlo::reverse(shlo::reshape(swapped, merged), SpatialPositions(w.rank() - 2));
}

}  // namespace

Value CorrelateInputAdjoint(const Call& c, Value y, Value w, const ConvGeometry& g,
                            const Dims& in) {
  const size_t rank = in.size();
  Dims result = {y.dim(0), w.dim(1) * g.groups};
  result.insert(result.end(), in.begin(), in.end());
  if (Empty(y) || Empty(w) || NumElements(result) == 0) return Zeros(c, y.dtype(), result);
  shlo::ConvWindow window{Dims(rank, 1), {}, {}, g.stride, g.dilation, std::vector<bool>(rank)};
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = Extent(w.dims()[i + 2], g.dilation[i]);
    const int64_t low = extent - 1 - g.padding[i];
    window.padding_low.push_back(low);
    window.padding_high.push_back(
        HighPadding(Extent(y.dims()[i + 2], g.stride[i]), low, extent, 1, in[i]));
  }
  return Convolve(c, y, AdjointKernel(w, g.groups), PlainDims(static_cast<int64_t>(rank)), window,
                  g.groups, 1);
}

// The batch is what is summed over, so it takes the place of the features.
Value CorrelateWeightAdjoint(const Call& c, Value x, Value y, const ConvGeometry& g,
                             const Dims& kernel) {
  const size_t rank = kernel.size();
  Dims result = {y.dim(1), x.dim(1) / g.groups};
  result.insert(result.end(), kernel.begin(), kernel.end());
  if (Empty(x) || Empty(y) || NumElements(result) == 0) return Zeros(c, x.dtype(), result);
  const Dims spatial = SpatialPositions(static_cast<int64_t>(rank));
  const shlo::ConvDims dims = {1, 0, spatial, 0, 1, spatial, 1, 0, spatial};
  shlo::ConvWindow window{g.dilation,    g.padding, {},
                          Dims(rank, 1), g.stride,  std::vector<bool>(rank)};
  for (size_t i = 0; i < rank; ++i) {
    window.padding_high.push_back(HighPadding(x.dims()[i + 2], g.padding[i],
                                              Extent(y.dims()[i + 2], g.stride[i]), g.dilation[i],
                                              kernel[i]));
  }
  return Convolve(c, x, y, dims, window, 1, g.groups);
}

namespace {

// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
Value Convolution(Call& c) {
  Value x = c.tensor(0), w = c.tensor(1);
  const ConvGeometry g = ReadGeometry(c, 3, x.rank() - 2);
  const Dims out = Spatial(c.out().dims);
  Value y = c.boolean(6) ? CorrelateInputAdjoint(c, x, w, g, out) : Correlate(c, x, w, g, out);
  if (!c.has(2)) return y;
  return y + shlo::broadcast_in_dim(shlo::convert(c.tensor(2), y.dtype()), y.dims(), {1});
}

// grad_output, input, weight, [bias_sizes,] stride, padding, dilation, transposed, output_padding,
// groups, output_mask
Results ConvolutionBackward(Call& c) {
  const int first = c.size() - 7;
  Value dy = c.tensor(0), x = c.tensor(1), w = c.tensor(2);
  const ConvGeometry g = ReadGeometry(c, first, x.rank() - 2);
  const bool transposed = c.boolean(first + 3);
  const std::vector<bool> mask = c.bools(first + 6);
  const Dims in = Spatial(x.dims()), kernel = Spatial(w.dims());
  Results grads(3);
  if (mask[0]) {
    grads[0] = transposed ? Correlate(c, dy, w, g, in) : CorrelateInputAdjoint(c, dy, w, g, in);
  }
  if (mask[1]) {
    grads[1] = transposed ? CorrelateWeightAdjoint(c, dy, x, g, kernel)
                          : CorrelateWeightAdjoint(c, x, dy, g, kernel);
  }
  if (mask[2]) {
    Dims summed = SpatialPositions(x.rank() - 2);
    summed.insert(summed.begin(), 0);
    grads[2] = shlo::reduce_sum(shlo::opmath(dy), summed);
  }
  return grads;
}

std::vector<TensorType> ConvolutionShape(const Call& c) {
  const Value x = c.tensor(0), w = c.tensor(1);
  const size_t rank = static_cast<size_t>(x.rank() - 2);
  const ConvGeometry g = ReadGeometry(c, 3, x.rank() - 2);
  const bool transposed = c.boolean(6);
  const Dims output_padding = Expand(c.ints(7), rank);
  Dims dims = {x.dim(0), transposed ? w.dim(1) * g.groups : w.dim(0)};
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = Extent(w.dims()[i + 2], g.dilation[i]), in = x.dims()[i + 2];
    dims.push_back(transposed
                       ? (in - 1) * g.stride[i] - 2 * g.padding[i] + extent + output_padding[i]
                       : (in + 2 * g.padding[i] - extent) / g.stride[i] + 1);
  }
  return {{x.dtype(), dims}};
}

std::vector<TensorType> ConvolutionBackwardShape(const Call& c) {
  const std::vector<bool> mask = c.bools(c.size() - 1);
  std::vector<TensorType> types(3);
  if (mask[0]) types[0] = c.tensor(1).type();
  if (mask[1]) types[1] = c.tensor(2).type();
  if (mask[2]) types[2] = {c.tensor(0).dtype(), {c.tensor(0).dim(1)}};
  return types;
}

LOWER("aten::convolution", Convolution, {.precision = true});
LOWER("aten::convolution_backward", ConvolutionBackward, {.precision = true});
LOWER("aten::convolution_overrideable", Convolution,
      {.precision = true, .shape = ConvolutionShape});
LOWER("aten::convolution_backward_overrideable", ConvolutionBackward,
      {.precision = true, .shape = ConvolutionBackwardShape});

}  // namespace
}  // namespace torch_tpu::ops
