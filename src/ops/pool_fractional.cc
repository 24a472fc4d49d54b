// Fractional max pooling: windows of one size at irregular starts that random samples decide, and
// the gradient.
#include "ops/index_util.h"
#include "ops/pointwise.h"
#include "ops/pool.h"

namespace torch_tpu::ops {
namespace {

// First elements of the windows along one dim, [planes, out], from samples[planes]. PyTorch rounds
// every step to the samples' dtype.
Value WindowStarts(Value samples, int64_t in, int64_t out, int64_t kernel) {
  const DType dtype = samples.dtype();
  Value wide = shlo::opmath(samples);
  const Dims dims = {samples.dim(0), out};
  Value sample = broadcast_in_dim(wide, dims, {0});
  const TensorType type = {DType::kS32, dims};
  Value last = constant(samples.builder(), in - kernel, type);
  if (out <= 1) return last;
  const auto rounded = [&](Value v) { return RoundTo(v, dtype); };
  Value alpha =
      rounded(shlo::scalar(samples.builder(), static_cast<double>(in - kernel), wide.dtype()) /
              static_cast<double>(out - 1));
  Value position = rounded(index_like(sample, 1, wide.dtype()) + sample);
  Value start = convert(rounded(position * alpha), DType::kS32) -
                convert(rounded(sample * alpha), DType::kS32);
  Value is_last = shlo::iota(samples.builder(), 1, type) == static_cast<double>(out - 1);
  return where(is_last, last, start);
}

// self, kernel_size, output_size, random_samples[n, c, rank]
template <int kRank>
Results FractionalMaxPool(Call& c) {
  Value x = c.tensor(0), samples = c.tensor(3);
  if (NumElements(c.out().dims) == 0) {
    return {constant(c.builder(), 0, c.out(0)), constant(c.builder(), 0, c.out(1))};
  }
  const Dims kernel = c.ints(1), in(x.dims().end() - kRank, x.dims().end());
  const Dims out(c.out().dims.end() - kRank, c.out().dims.end());
  const int64_t planes = NumElements(x.dims()) / NumElements(in);
  samples = reshape(samples, {planes, kRank});
  Dims windows = {planes};  // plane, window, position in the window
  windows.insert(windows.end(), out.begin(), out.end());
  windows.insert(windows.end(), kernel.begin(), kernel.end());
  Value index;
  for (int64_t d = 0; d < kRank; ++d) {
    const size_t i = static_cast<size_t>(d);
    const int64_t column = kRank == 2 ? 1 - d : d;  // in two dims the first sample is the width's
    Value sample = reshape(slice_dim(samples, 1, column, column + 1), {planes});
    Value start =
        broadcast_in_dim(WindowStarts(sample, in[i], out[i], kernel[i]), windows, {0, 1 + d});
    Value along = start + index_like(start, 1 + kRank + d, DType::kS32);
    index = index ? index * static_cast<double>(in[i]) + along : along;
  }
  const Dims flat = {planes, NumElements(out), NumElements(kernel)};
  index = reshape(index, {planes, flat[1] * flat[2]});
  Value values = GatherAlong(reshape(x, {planes, NumElements(in)}), 1, index);
  const Value operands[] = {reshape(values, flat), reshape(index, flat)};
  const Value inits[] = {shlo::min_value(c.builder(), x.dtype()),
                         shlo::max_value(c.builder(), DType::kS32)};
  Results best = shlo::reduce(operands, inits, {2}, LargerPair);
  for (Value& v : best) v = reshape(v, c.out().dims);
  return best;
}

// grad_output, self, kernel_size, output_size, indices
template <int kRank>
Value FractionalMaxPoolBackward(Call& c) {
  const Dims dims = c.tensor(1).dims();
  if (NumElements(c.tensor(0).dims()) == 0) return constant(c.builder(), 0, c.out());
  return AddAtPlaneIndices(shlo::opmath(c.tensor(0)), c.tensor(4), dims, kRank);
}

std::vector<TensorType> LikeSelf(const Call& c) { return {c.tensor(1).type()}; }

LOWER("aten::fractional_max_pool2d", FractionalMaxPool<2>);
LOWER("aten::fractional_max_pool3d", FractionalMaxPool<3>);
LOWER("aten::fractional_max_pool2d_backward", FractionalMaxPoolBackward<2>, {.shape = LikeSelf});
LOWER("aten::fractional_max_pool3d_backward", FractionalMaxPoolBackward<3>, {.shape = LikeSelf});

}  // namespace
}  // namespace torch_tpu::ops
