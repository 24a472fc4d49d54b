// Layer, RMS and group normalisation, and their gradients. Half types are normalised in float32.
#include "ops/norm.h"

namespace torch_tpu::ops {
namespace {

std::optional<Value> OptionalOpmath(const Call& c, int i, DType dtype) {
  if (!c.has(i)) return std::nullopt;
  return shlo::convert(c.tensor(i), dtype);
}

// The normalised dims are the last `count`.
struct Split {
  Dims outer, inner;
  Dims statistics;  // dims of mean and rstd: inner ones are 1
};

Split SplitLast(Value x, size_t count) {
  const int64_t axis = x.rank() - static_cast<int64_t>(count);
  Split s{DimRange(0, axis), DimRange(axis, x.rank()), x.dims()};
  for (int64_t d : s.inner) s.statistics[static_cast<size_t>(d)] = 1;
  return s;
}

Value Affine(Value x_hat, std::optional<Value> weight, std::optional<Value> bias) {
  if (weight) x_hat = x_hat * Like(*weight, x_hat);
  if (bias) x_hat = x_hat + Like(*bias, x_hat);
  return x_hat;
}

// input, normalized_shape, weight, bias, eps
Results LayerNorm(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const Split s = SplitLast(x, c.ints(1).size());
  const Moments m = MomentsOver(x, s.inner);
  Value rstd = shlo::rsqrt(m.variance + c.number(4));
  Value x_hat = (x - Like(m.mean, x)) * Like(rstd, x);
  Value y = Affine(x_hat, OptionalOpmath(c, 2, x.dtype()), OptionalOpmath(c, 3, x.dtype()));
  return {y, shlo::reshape(m.mean, c.out(1).dims), shlo::reshape(rstd, c.out(2).dims)};
}

// grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask
Results LayerNormBackward(Call& c) {
  Value dy = shlo::opmath(c.tensor(0)), x = shlo::opmath(c.tensor(1));
  const Split s = SplitLast(x, c.ints(2).size());
  Value mean = shlo::reshape(shlo::convert(c.tensor(3), x.dtype()), s.statistics);
  Value rstd = shlo::reshape(shlo::convert(c.tensor(4), x.dtype()), s.statistics);
  const auto weight = OptionalOpmath(c, 5, x.dtype());
  const std::vector<bool> mask = c.bools(7);
  Value x_hat = (x - Like(mean, x)) * Like(rstd, x);
  Results grads(3);
  if (mask[0]) {
    grads[0] = NormalizeBackward(weight ? dy * Like(*weight, dy) : dy, x_hat, rstd, s.inner);
  }
  if (mask[1] && weight) grads[1] = shlo::reduce_sum(dy * x_hat, s.outer);
  if (mask[2] && c.has(6)) grads[2] = shlo::reduce_sum(dy, s.outer);
  return grads;
}

// input, normalized_shape, weight, eps
Results RmsNorm(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const Split s = SplitLast(x, c.ints(1).size());
  const double epsilon = x.dtype() == DType::kF64 ? 0x1p-52 : 0x1p-23;
  Value square = MeanOver(x * x, s.inner);
  Value rstd = shlo::rsqrt(c.has(3) ? square + c.number(3) : square + epsilon);
  return {Affine(x * Like(rstd, x), OptionalOpmath(c, 2, x.dtype()), std::nullopt), rstd};
}

// grad_out, input, normalized_shape, rstd, weight, output_mask
Results RmsNormBackward(Call& c) {
  Value dy = shlo::opmath(c.tensor(0)), x = shlo::opmath(c.tensor(1));
  const Split s = SplitLast(x, c.ints(2).size());
  Value rstd = shlo::reshape(shlo::convert(c.tensor(3), x.dtype()), s.statistics);
  const auto weight = OptionalOpmath(c, 4, x.dtype());
  const std::vector<bool> mask = c.bools(5);
  Value x_hat = x * Like(rstd, x);
  Results grads(2);
  if (mask[0]) {
    Value dx_hat = weight ? dy * Like(*weight, dy) : dy;
    Value projection = Like(MeanOver(dx_hat * x_hat, s.inner), x);
    grads[0] = (dx_hat - x_hat * projection) * Like(rstd, x);
  }
  if (mask[1] && weight) grads[1] = shlo::reduce_sum(dy * x_hat, s.outer);
  return grads;
}

// Dims of a group-normalised tensor: batch, groups, channels of a group, positions.
struct Groups {
  Dims split, statistics, channels;

  // N, C, HxW, group from argument `first` on.
  Groups(const Call& c, int first) {
    const int64_t n = c.integer(first), channel_count = c.integer(first + 1);
    const int64_t positions = c.integer(first + 2), groups = c.integer(first + 3);
    split = {n, groups, channel_count / groups, positions};
    statistics = {n, groups, 1, 1};
    channels = {channel_count};
  }

  Value OfTensor(Value x) const { return shlo::reshape(shlo::opmath(x), split); }
  Value OfStatistic(Value v, DType dtype) const {
    return shlo::reshape(shlo::convert(v, dtype), statistics);
  }
  std::optional<Value> OfChannels(const Call& c, int i, DType dtype) const {
    if (!c.has(i)) return std::nullopt;
    return shlo::reshape(shlo::convert(c.tensor(i), dtype), {1, split[1], split[2], 1});
  }
};

// input, weight, bias, N, C, HxW, group, eps
Results GroupNorm(Call& c) {
  const Groups g(c, 3);
  Value x = g.OfTensor(c.tensor(0));
  const Moments m = MomentsOver(x, {2, 3});
  Value rstd = shlo::rsqrt(m.variance + c.number(7));
  Value x_hat = (x - Like(m.mean, x)) * Like(rstd, x);
  Value y = Affine(x_hat, g.OfChannels(c, 1, x.dtype()), g.OfChannels(c, 2, x.dtype()));
  return {shlo::reshape(y, c.out().dims), shlo::reshape(m.mean, c.out(1).dims),
          shlo::reshape(rstd, c.out(2).dims)};
}

// grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask
Results GroupNormBackward(Call& c) {
  const Groups g(c, 5);
  Value dy = g.OfTensor(c.tensor(0)), x = g.OfTensor(c.tensor(1));
  Value mean = g.OfStatistic(c.tensor(2), x.dtype()), rstd = g.OfStatistic(c.tensor(3), x.dtype());
  const auto weight = g.OfChannels(c, 4, x.dtype());
  const std::vector<bool> mask = c.bools(9);
  Value x_hat = (x - Like(mean, x)) * Like(rstd, x);
  Results grads(3);
  if (mask[0]) {
    Value dx_hat = weight ? dy * Like(*weight, dy) : dy;
    grads[0] = shlo::reshape(NormalizeBackward(dx_hat, x_hat, rstd, {2, 3}), c.tensor(1).dims());
  }
  if (mask[1]) grads[1] = shlo::reshape(shlo::reduce_sum(dy * x_hat, {0, 3}), g.channels);
  if (mask[2]) grads[2] = shlo::reshape(shlo::reduce_sum(dy, {0, 3}), g.channels);
  return grads;
}

LOWER("aten::native_layer_norm", LayerNorm);
LOWER("aten::native_layer_norm_backward", LayerNormBackward);
LOWER("aten::_fused_rms_norm", RmsNorm);
LOWER("aten::_fused_rms_norm_backward", RmsNormBackward);
LOWER("aten::native_group_norm", GroupNorm);
LOWER("aten::native_group_norm_backward", GroupNormBackward);

}  // namespace
}  // namespace torch_tpu::ops
