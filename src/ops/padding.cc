// Padding by a constant, by reflection and by repetition, and the gradients.
#include <algorithm>

#include "ops/call.h"

namespace torch_tpu::ops {
namespace {

// Padding of one dim; negative amounts cut off.
struct Margin {
  int64_t dim, low, high;
};

// PyTorch lists (low, high) pairs from the last dim backwards.
std::vector<Margin> ReadMargins(const Dims& padding, int64_t rank) {
  std::vector<Margin> margins;
  for (size_t i = 0; i + 1 < padding.size(); i += 2) {
    margins.push_back({rank - 1 - static_cast<int64_t>(i / 2), padding[i], padding[i + 1]});
  }
  return margins;
}

Value PadDim(Value x, int64_t dim, int64_t low, int64_t high) {
  Dims lows(static_cast<size_t>(x.rank()), 0), highs = lows, interior = lows;
  lows[static_cast<size_t>(dim)] = low;
  highs[static_cast<size_t>(dim)] = high;
  return shlo::pad(x, shlo::scalar(x.builder(), 0.0, x.dtype()), lows, highs, interior);
}

// self, pad, value
Value ConstantPad(Call& c) {
  Value x = c.tensor(0);
  Dims low(static_cast<size_t>(x.rank()), 0), high = low, interior = low;
  for (const Margin& m : ReadMargins(c.ints(1), x.rank())) {
    low[static_cast<size_t>(m.dim)] = m.low;
    high[static_cast<size_t>(m.dim)] = m.high;
  }
  return shlo::pad(x, shlo::convert(c.number(2), x.dtype()), low, high, interior);
}

// The elements of x along m.dim that fill the low and the high margin, in order.
using EdgeFn = Value (*)(Value x, int64_t dim, int64_t amount, bool at_low);

Value ReflectedEdge(Value x, int64_t dim, int64_t amount, bool at_low) {
  const int64_t size = x.dim(dim);
  Value edge = at_low ? shlo::slice_dim(x, dim, 1, amount + 1)
                      : shlo::slice_dim(x, dim, size - 1 - amount, size - 1);
  return shlo::reverse(edge, {dim});
}

Value RepeatedEdge(Value x, int64_t dim, int64_t amount, bool at_low) {
  const int64_t at = at_low ? 0 : x.dim(dim) - 1;
  Dims dims = x.dims();
  dims[static_cast<size_t>(dim)] = amount;
  return shlo::broadcast_to(shlo::slice_dim(x, dim, at, at + 1), dims);
}

// self, padding
template <EdgeFn kEdge>
Value EdgePad(Call& c) {
  Value x = c.tensor(0);
  if (NumElements(c.out().dims) == 0) return shlo::constant(c.builder(), 0, c.out());
  for (const Margin& m : ReadMargins(c.ints(1), x.rank())) {
    std::vector<Value> parts;
    if (m.low > 0) parts.push_back(kEdge(x, m.dim, m.low, true));
    parts.push_back(x);
    if (m.high > 0) parts.push_back(kEdge(x, m.dim, m.high, false));
    if (parts.size() > 1) x = shlo::concatenate(parts, m.dim);
    const int64_t cut_low = std::max<int64_t>(-m.low, 0), cut_high = std::max<int64_t>(-m.high, 0);
    x = shlo::slice_dim(x, m.dim, cut_low, x.dim(m.dim) - cut_high);
  }
  return x;
}

// Where the gradient of a margin goes: a tensor of `size` along `dim`.
using EdgeAdjointFn = Value (*)(Value edge, int64_t dim, int64_t size, bool at_low);

Value ReflectedEdgeAdjoint(Value edge, int64_t dim, int64_t size, bool at_low) {
  const int64_t rest = size - 1 - edge.dim(dim);
  return PadDim(shlo::reverse(edge, {dim}), dim, at_low ? 1 : rest, at_low ? rest : 1);
}

Value RepeatedEdgeAdjoint(Value edge, int64_t dim, int64_t size, bool at_low) {
  Value sum = shlo::reduce_sum(edge, {dim}, true);
  return PadDim(sum, dim, at_low ? 0 : size - 1, at_low ? size - 1 : 0);
}

// grad_output, self, padding
template <EdgeAdjointFn kAdjoint>
Value EdgePadBackward(Call& c) {
  Value dy = shlo::opmath(c.tensor(0));
  const Dims in = c.tensor(1).dims();
  if (NumElements(in) == 0) return shlo::constant(c.builder(), 0, c.out());
  for (const Margin& m : ReadMargins(c.ints(2), dy.rank())) {
    const int64_t size = in[static_cast<size_t>(m.dim)];
    // Cut margins come back as zeros, the others are taken off.
    Value padded = PadDim(dy, m.dim, std::max<int64_t>(-m.low, 0), std::max<int64_t>(-m.high, 0));
    const int64_t low = std::max<int64_t>(m.low, 0), end = padded.dim(m.dim);
    const int64_t high = std::max<int64_t>(m.high, 0);
    dy = shlo::slice_dim(padded, m.dim, low, end - high);
    if (low > 0) dy = dy + kAdjoint(shlo::slice_dim(padded, m.dim, 0, low), m.dim, size, true);
    if (high > 0) {
      dy = dy + kAdjoint(shlo::slice_dim(padded, m.dim, end - high, end), m.dim, size, false);
    }
  }
  return dy;
}

LOWER("aten::constant_pad_nd", ConstantPad);
LOWER("aten::reflection_pad1d", EdgePad<ReflectedEdge>);
LOWER("aten::reflection_pad2d", EdgePad<ReflectedEdge>);
LOWER("aten::reflection_pad3d", EdgePad<ReflectedEdge>);
LOWER("aten::reflection_pad1d_backward", EdgePadBackward<ReflectedEdgeAdjoint>);
LOWER("aten::reflection_pad2d_backward", EdgePadBackward<ReflectedEdgeAdjoint>);
LOWER("aten::reflection_pad3d_backward", EdgePadBackward<ReflectedEdgeAdjoint>);
LOWER("aten::replication_pad1d", EdgePad<RepeatedEdge>);
LOWER("aten::replication_pad2d", EdgePad<RepeatedEdge>);
LOWER("aten::replication_pad3d", EdgePad<RepeatedEdge>);
LOWER("aten::replication_pad1d_backward", EdgePadBackward<RepeatedEdgeAdjoint>);
LOWER("aten::replication_pad2d_backward", EdgePadBackward<RepeatedEdgeAdjoint>);
LOWER("aten::replication_pad3d_backward", EdgePadBackward<RepeatedEdgeAdjoint>);

}  // namespace
}  // namespace torch_tpu::ops
