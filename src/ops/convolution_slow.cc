// The convolutions that PyTorch's CPU kernels are called by (slow_conv and relatives): the same
// maps as aten::convolution, with a kernel size of their own and no groups. Inputs may lack the
// batch.
#include "ops/convolution.h"

namespace torch_tpu::ops {
namespace {

Dims Filled(Dims values, size_t rank) {
  if (values.size() == 1) values.resize(rank, values[0]);
  return values;
}

// Positions of the arguments; -1 for none.
struct Places {
  int bias, stride, padding, output_padding = -1, dilation = -1;
};
constexpr Places kForward = {3, 4, 5};
constexpr Places kDilated = {3, 4, 5, -1, 6};
constexpr Places kTransposed = {3, 4, 5, 6, 7};

ConvGeometry ReadGeometry(const Call& c, const Places& p, size_t rank) {
  return {Filled(c.ints(p.stride), rank), Filled(c.ints(p.padding), rank),
          p.dilation < 0 ? Dims(rank, 1) : Filled(c.ints(p.dilation), rank), 1};
}

// The kernel as [out, in, spatial...]: slow_conv2d also takes it as a matrix.
Value Kernel(const Call& c, Value input, int weight, int kernel_size) {
  Value w = c.tensor(weight);
  const Dims kernel = c.ints(kernel_size);
  if (w.rank() != 2) return w;
  Dims dims = {w.dim(0), input.dim(1)};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  return reshape(w, dims);
}

Value Batched(Value x, size_t rank) {
  return x.rank() == static_cast<int64_t>(rank) + 1 ? shlo::unsqueeze(x, 0) : x;
}

Value WithBias(const Call& c, Value y, int bias) {
  if (!c.has(bias)) return y;
  return y + broadcast_in_dim(convert(c.tensor(bias), y.dtype()), y.dims(), {1});
}

// self, weight, kernel_size, bias, stride, padding, [output_padding], [dilation]
template <const Places& kPlaces, bool kIsTransposed>
Value SlowConv(Call& c) {
  const size_t rank = c.ints(2).size();
  Value x = Batched(c.tensor(0), rank), w = Kernel(c, x, 1, 2);
  const ConvGeometry g = ReadGeometry(c, kPlaces, rank);
  const Dims out(c.out().dims.end() - static_cast<int64_t>(rank), c.out().dims.end());
  Value y = kIsTransposed ? CorrelateInputAdjoint(c, x, w, g, out) : Correlate(c, x, w, g, out);
  return reshape(WithBias(c, y, kPlaces.bias), c.out().dims);
}

template <const Places& kPlaces, bool kIsTransposed>
std::vector<TensorType> SlowConvShape(const Call& c) {
  const Dims kernel = c.ints(2);
  const size_t rank = kernel.size();
  Value self = c.tensor(0), x = Batched(self, rank), w = Kernel(c, x, 1, 2);
  if (x.rank() != static_cast<int64_t>(rank) + 2 || w.rank() != x.rank() ||
      w.dim(kIsTransposed ? 0 : 1) != x.dim(1)) {
    throw shlo::BuildError(c.name() + ": input and weight do not fit");
  }
  const ConvGeometry g = ReadGeometry(c, kPlaces, rank);
  const Dims extra = kIsTransposed ? Filled(c.ints(kPlaces.output_padding), rank) : Dims(rank, 0);
  Dims dims = {w.dim(kIsTransposed ? 1 : 0)};
  if (self.rank() == x.rank()) dims.insert(dims.begin(), x.dim(0));
  for (size_t d = 0; d < rank; ++d) {
    const int64_t extent = (kernel[d] - 1) * g.dilation[d] + 1, in = x.dims()[d + 2];
    const int64_t size = kIsTransposed
                             ? (in - 1) * g.stride[d] - 2 * g.padding[d] + extent + extra[d]
                             : (in + 2 * g.padding[d] - extent) / g.stride[d] + 1;
    if (size < 1) throw shlo::BuildError(c.name() + ": the output would be too small");
    dims.push_back(size);
  }
  return {{self.dtype(), dims}};
}

// grad_output, self, weight, kernel_size, stride, padding, output_mask
Results SlowConv2dBackward(Call& c) {
  const ConvGeometry g = ReadGeometry(c, {-1, 4, 5}, 2);
  const std::vector<bool> mask = c.size() > 6 ? c.bools(6) : std::vector<bool>(3, true);
  Value dy = Batched(c.tensor(0), 2), x = Batched(c.tensor(1), 2), w = Kernel(c, x, 2, 3);
  Results grads(3);
  if (mask[0]) {
    Value grad = CorrelateInputAdjoint(c, dy, w, g, Spatial(x.dims()));
    grads[0] = reshape(grad, c.tensor(1).dims());
  }
  if (mask[1]) {
    Value grad = CorrelateWeightAdjoint(c, x, dy, g, Spatial(w.dims()));
    grads[1] = reshape(grad, c.tensor(2).dims());
  }
  if (mask[2]) grads[2] = shlo::reduce_sum(shlo::opmath(dy), {0, 2, 3});
  return grads;
}

std::vector<TensorType> SlowConv2dBackwardShape(const Call& c) {
  const std::vector<bool> mask = c.size() > 6 ? c.bools(6) : std::vector<bool>(3, true);
  std::vector<TensorType> types(3);
  if (mask[0]) types[0] = c.tensor(1).type();
  if (mask[1]) types[1] = c.tensor(2).type();
  if (mask[2]) types[2] = {c.tensor(0).dtype(), {c.tensor(2).dim(0)}};
  return types;
}

#define SLOW(name, places, transposed)                 \
  LOWER("aten::" name, (SlowConv<places, transposed>), \
        {.precision = true, .shape = SlowConvShape<places, transposed>})
SLOW("_slow_conv2d_forward", kForward, false);
SLOW("slow_conv3d_forward", kForward, false);
SLOW("slow_conv_dilated2d", kDilated, false);
SLOW("slow_conv_dilated3d", kDilated, false);
SLOW("slow_conv_transpose3d", kTransposed, true);
#undef SLOW
LOWER("aten::slow_conv_transpose2d", (SlowConv<kTransposed, true>),
      {.precision = true});  // Meta knows its shapes
LOWER("aten::_slow_conv2d_backward", SlowConv2dBackward,
      {.precision = true, .shape = SlowConv2dBackwardShape});

}  // namespace
}  // namespace torch_tpu::ops
