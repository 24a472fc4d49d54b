// Sliding windows as tensors and their sums: im2col, col2im, unfold_backward.
#include "ops/call.h"

namespace torch_tpu::ops {
namespace {

Value Zero(Value like) { return shlo::scalar(like.builder(), int64_t{0}, like.dtype()); }

Value PadDim(Value x, int64_t dim, int64_t low, int64_t high, int64_t interior = 0) {
  Dims lows(x.rank(), 0), highs(x.rank(), 0), interiors(x.rank(), 0);
  lows[dim] = low;
  highs[dim] = high;
  interiors[dim] = interior;
  return pad(x, Zero(x), lows, highs, interiors);
}

// Splits `dim` into [windows, size]: element (w, s) is x[w * step + s * dilation].
Value Windows(Value x, int64_t dim, int64_t windows, int64_t size, int64_t dilation, int64_t step) {
  std::vector<Value> parts;
  for (int64_t s = 0; s < size; ++s) {
    const int64_t first = s * dilation;
    parts.push_back(
        unsqueeze(slice_dim(x, dim, first, first + (windows - 1) * step + 1, step), dim + 1));
  }
  return parts.size() == 1 ? parts[0] : concatenate(parts, dim + 1);
}

// The adjoint: x has [windows, size] at dims (dim, dim + 1); result[i] along `dim` is the sum of
// x[w, s] with w * step + s == i, for 0 <= i < length. Windows are cut into chunks of `step`, so
// that chunk j of window w is block w + j of the result; shifting row j by j places (pad, flatten,
// crop) lines the blocks up for one sum.
Value OverlapAdd(Value x, int64_t dim, int64_t step, int64_t length) {
  const int64_t windows = x.dim(dim), chunks = (x.dim(dim + 1) + step - 1) / step;
  x = PadDim(x, dim + 1, 0, chunks * step - x.dim(dim + 1));
  Dims leading(x.dims().begin(), x.dims().begin() + dim);
  Dims trailing(x.dims().begin() + dim + 2, x.dims().end());
  auto dims = [&](std::initializer_list<int64_t> middle) {
    Dims all = leading;
    all.insert(all.end(), middle);
    all.insert(all.end(), trailing.begin(), trailing.end());
    return all;
  };
  x = swap_dims(reshape(x, dims({windows, chunks, step})), dim, dim + 1);
  const int64_t blocks = windows + chunks - 1;
  x = PadDim(x, dim + 1, 0, chunks);  // [chunks, blocks + 1, step]
  x = slice_dim(reshape(x, dims({chunks * (blocks + 1), step})), dim, 0, chunks * blocks);
  x = reduce_sum(reshape(x, dims({chunks, blocks, step})), {dim});
  x = reshape(x, dims({blocks * step}));
  return PadDim(x, dim, 0, length - blocks * step);
}

// unfold_backward(grad_in, input_sizes, dim, size, step)
Value UnfoldBackward(Call& c) {
  Value grad = opmath(c.tensor(0));
  const Dims sizes = c.ints(1);
  if (sizes.empty()) return reshape(grad, {});
  const int64_t dim = shlo::wrap_dim(c.integer(2), static_cast<int64_t>(sizes.size()));
  // The window's elements come last; OverlapAdd wants them behind their window.
  Dims order;
  for (int64_t d = 0; d + 1 < grad.rank(); ++d) {
    order.push_back(d);
    if (d == dim) order.push_back(grad.rank() - 1);
  }
  return OverlapAdd(transpose(grad, order), dim, c.integer(4), sizes[dim]);
}

// Arguments of one spatial dim of im2col and col2im.
struct Axis {
  int64_t size, dilation, padding, stride, kernel, windows;
};

Axis AxisOf(const Call& c, int first, int i, int64_t size) {
  auto at = [&](int position) { return c.ints(position).at(static_cast<size_t>(i)); };
  Axis a{size, at(first + 1), at(first + 2), at(first + 3), at(first), 0};
  a.windows = (size + 2 * a.padding - a.dilation * (a.kernel - 1) - 1) / a.stride + 1;
  return a;
}

// im2col(self, kernel_size, dilation, padding, stride)
Value Im2Col(Call& c) {
  Value x = c.tensor(0);
  const int64_t rank = x.rank();
  const Axis h = AxisOf(c, 1, 0, x.dim(-2)), w = AxisOf(c, 1, 1, x.dim(-1));
  if (rank == 3) x = unsqueeze(x, 0);
  x = PadDim(PadDim(x, 2, h.padding, h.padding), 3, w.padding, w.padding);
  x = Windows(x, 3, w.windows, w.kernel, w.dilation, w.stride);
  x = Windows(x, 2, h.windows, h.kernel, h.dilation, h.stride);  // [n, c, oh, kh, ow, kw]
  return reshape(transpose(x, {0, 1, 3, 5, 2, 4}), c.out().dims);
}

// One spatial dim of col2im: [.., windows, kernel, ..] at (dim, dim + 1) becomes the image's dim.
Value FoldAxis(Value x, int64_t dim, const Axis& a) {
  x = PadDim(x, dim + 1, 0, 0, a.dilation - 1);
  x = OverlapAdd(x, dim, a.stride, a.size + 2 * a.padding);
  return slice_dim(x, dim, a.padding, a.padding + a.size);
}

// col2im(self, output_size, kernel_size, dilation, padding, stride)
Value Col2Im(Call& c) {
  Value x = opmath(c.tensor(0));
  const Dims size = c.ints(1);
  const Axis h = AxisOf(c, 2, 0, size.at(0)), w = AxisOf(c, 2, 1, size.at(1));
  const int64_t n = x.rank() == 3 ? x.dim(0) : 1, channels = x.dim(-2) / (h.kernel * w.kernel);
  x = reshape(x, {n, channels, h.kernel, w.kernel, h.windows, w.windows});
  x = transpose(x, {0, 1, 4, 2, 5, 3});
  x = FoldAxis(x, 4, w);
  x = FoldAxis(x, 2, h);
  return reshape(x, c.out().dims);
}

LOWER("aten::unfold_backward", UnfoldBackward);
LOWER("aten::im2col", Im2Col);
LOWER("aten::col2im", Col2Im);

}  // namespace
}  // namespace torch_tpu::ops
