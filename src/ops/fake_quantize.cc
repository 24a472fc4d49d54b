// Fake quantisation: numbers rounded to the levels of a quantised type and back, in plain floats,
// and the gradients of learnable scales and zero points.
#include <cmath>

#include "ops/pointwise.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

struct Levels {
  Value scale, zero_point;  // float, with the dims of the input
  double low, high;
};

// A number, a tensor of one element, or one entry for each slice along `axis`, over the input.
Value Over(Value v, Value x, int64_t axis) {
  v = convert(v, x.dtype());
  if (axis >= 0) return broadcast_in_dim(reshape(v, {x.dim(axis)}), x.dims(), {axis});
  return shlo::broadcast_to(reshape(v, {}), x.dims());
}

// quant_min and quant_max at arguments `first` and first + 1.
Levels ReadLevels(const Call& c, Value x, Value scale, Value zero_point, int64_t axis, int first) {
  return {Over(scale, x, axis), Over(zero_point, x, axis), static_cast<double>(c.integer(first)),
          static_cast<double>(c.integer(first + 1))};
}

// The level of each number, not yet clamped. PyTorch adds an integer zero point after rounding, a
// float one and those of the gradients before. NaN falls below all levels.
Value LevelOf(Value x, const Levels& q, bool add_before) {
  Value scaled = x * (1.0 / q.scale);
  Value level = add_before ? round_nearest_even(scaled + q.zero_point)
                           : round_nearest_even(scaled) + q.zero_point;
  return where(is_nan(level), -INFINITY, level);
}

Value Clamped(Value level, const Levels& q) {
  return clamp(full_like(level, q.low), level, full_like(level, q.high));
}

Value Inside(Value level, const Levels& q) { return (level >= q.low) & (level <= q.high); }

// The value that comes back, and whether the number was within the levels.
Results Quantized(Value x, const Levels& q, bool add_before) {
  Value level = LevelOf(x, q, add_before);
  return {(Clamped(level, q) - q.zero_point) * q.scale, Inside(level, q)};
}

// self, scale, zero_point, quant_min, quant_max
Results PerTensor(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  Value zero_point = shlo::scalar(c.builder(), c.integer(2), x.dtype());
  return Quantized(x, ReadLevels(c, x, c.number(1), zero_point, -1, 3), false);
}

// self, scale, zero_point, fake_quant_enabled, quant_min, quant_max
Results PerTensorQparams(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  Results made = Quantized(x, ReadLevels(c, x, c.tensor(1), c.tensor(2), -1, 4), false);
  Value on = shlo::broadcast_to(reshape(AsBool(c.tensor(3)), {}), x.dims());
  return {where(on, made[0], x), made[1] | !on};
}

// self, scale, zero_point, axis, quant_min, quant_max
Results PerChannel(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const int64_t axis = shlo::wrap_dim(c.integer(3), x.rank());
  return Quantized(x, ReadLevels(c, x, c.tensor(1), c.tensor(2), axis, 4),
                   IsFloat(c.tensor(2).dtype()));
}

// The whole number that a learnable zero point is used as. PyTorch rounds it, but in the gradient
// for a whole tensor it adds a half and truncates.
Value WholeZeroPoint(const Call& c, Value zero_point, int first, bool add_half = false) {
  Value z = convert(zero_point, DType::kF32);
  z = add_half ? z + 0.5 : round_nearest_even(z);
  z = clamp(full_like(z, static_cast<double>(c.integer(first))), z,
            full_like(z, static_cast<double>(c.integer(first + 1))));
  return Truncate(z);
}

// self, scale, zero_point, [axis], quant_min, quant_max, grad_factor
template <bool kPerChannel>
Value Learnable(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const int64_t axis = kPerChannel ? shlo::wrap_dim(c.integer(3), x.rank()) : -1;
  const int first = kPerChannel ? 4 : 3;
  Value z = WholeZeroPoint(c, c.tensor(2), first);
  return Quantized(x, ReadLevels(c, x, c.tensor(1), z, axis, first), false)[0];
}

// grad, self, scale, zero_point, [axis], quant_min, quant_max, grad_factor -> grads of self, scale
// and zero_point
template <bool kPerChannel>
Results LearnableBackward(Call& c) {
  Value dy = shlo::opmath(c.tensor(0)), x = shlo::opmath(c.tensor(1));
  const int64_t axis = kPerChannel ? shlo::wrap_dim(c.integer(4), x.rank()) : -1;
  const int first = kPerChannel ? 5 : 4;
  Value z = WholeZeroPoint(c, c.tensor(3), first, /*add_half=*/!kPerChannel);
  const Levels q = ReadLevels(c, x, c.tensor(2), z, axis, first);
  Value level = LevelOf(x, q, true), inside = Inside(level, q), clamped = Clamped(level, q);
  Value steps = clamped - q.zero_point;
  Value factor = convert(c.number(first + 2), x.dtype());
  Value d_scale = dy * where(inside, (steps * q.scale - x) / q.scale, steps) * factor;
  Value d_zero = where(inside, 0.0, -(dy * q.scale * factor));
  Dims summed = AllDims(x);
  if (kPerChannel) summed.erase(summed.begin() + axis);
  const auto total = [&](Value v, int k) { return ToOut(c, shlo::reduce_sum(v, summed), k); };
  return {where(inside, dy, 0.0), total(d_scale, 1), total(d_zero, 2)};
}

// --- with an observer that follows the range of the inputs ---------------------------------------

struct Parameters {
  Value scale, zero_point;  // kF64
};

// The scale and zero point that map [low, high], widened to hold 0, onto the levels. Symmetric
// ranges have their zero in the middle of the levels.
Parameters ChooseParameters(Value low, Value high, double quant_min, double quant_max,
                            bool symmetric) {
  constexpr double kSmallestScale = 6.1e-5;
  const double steps = quant_max - quant_min;
  low = min(convert(low, DType::kF64), full_like(convert(low, DType::kF64), 0));
  high = max(convert(high, DType::kF64), full_like(low, 0));
  if (symmetric) {
    const double below = std::floor(steps / 2) + 1, above = std::floor(steps / 2);
    Value step = max(-low / below, high / above);
    low = -step * below;
    high = step * above;
  }
  Value scale = (high - low) / steps;
  Value degenerate = convert(scale, DType::kF32) == 0.0;
  scale = where(degenerate | !is_finite(1.0 / convert(scale, DType::kF32)), 0.1, scale);
  Value small = scale < kSmallestScale, amplifier = kSmallestScale / scale;
  low = where(small & (high != 0.0), low * amplifier, where(small, -kSmallestScale * steps, low));
  scale = where(small, kSmallestScale, scale);
  high = where(small, low + scale * steps, high);
  Value from_low = quant_min - low / scale, from_high = quant_max - high / scale;
  Value low_error = std::abs(quant_min) + abs(low / scale);
  Value high_error = std::abs(quant_max) + abs(high / scale);
  Value zero_point = where(low_error < high_error, from_low, from_high);
  if (symmetric) {
    zero_point = where((low < 0.0) & (high > 0.0), (quant_min + quant_max) / 2, zero_point);
  }
  zero_point = clamp(full_like(scale, quant_min), round_nearest_even(zero_point),
                     full_like(scale, quant_max));
  return {scale, zero_point};
}

// self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const,
// quant_min, quant_max, ch_axis, per_row_fake_quant, symmetric_quant -> output, mask, and the new
// values of the four in the middle
Results Observed(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const int64_t axis = c.boolean(11) ? shlo::wrap_dim(c.integer(10), x.rank()) : -1;
  const auto flag = [&](int i) { return reshape(AsBool(c.tensor(i)), {}); };
  Value observing = flag(1), on = flag(2);
  Dims others = AllDims(x);
  if (axis >= 0) others.erase(others.begin() + axis);
  const auto follow = [&](int i, Value extreme) {
    Value old = c.tensor(i);
    extreme = reshape(convert(extreme, old.dtype()), old.dims());
    Value moved = old + (extreme - old) * convert(c.number(7), old.dtype());
    moved = where(is_finite(old) | is_nan(old), moved, extreme);
    return where(observing, moved, old);
  };
  Value low = follow(3, shlo::reduce_min(x, others)), high = follow(4, shlo::reduce_max(x, others));
  const double quant_min = static_cast<double>(c.integer(8));
  const double quant_max = static_cast<double>(c.integer(9));
  const Parameters p = ChooseParameters(low, high, quant_min, quant_max, c.boolean(12));
  const auto chosen = [&](int i, Value v) {
    Value old = c.tensor(i);
    return where(on, reshape(convert(v, old.dtype()), old.dims()), old);
  };
  Value scale = chosen(5, p.scale), zero_point = chosen(6, p.zero_point);
  Results made = Quantized(x, ReadLevels(c, x, scale, zero_point, axis, 8), false);
  return {where(on, made[0], x), made[1] | !on, low, high, scale, zero_point};
}

std::vector<TensorType> ObservedShape(const Call& c) {
  const TensorType self = c.tensor(0).type();
  if (c.tensor(3).dims() == Dims{0}) {
    throw shlo::BuildError(c.name() + ": give running_min, running_max, scale and zero_point of " +
                           "the size of the channel dim instead of empty ones");
  }
  std::vector<TensorType> types = {self, {DType::kPred, self.dims}};
  for (int i = 3; i < 7; ++i) types.push_back(c.tensor(i).type());
  return types;
}

std::vector<TensorType> ValueAndMask(const Call& c) {
  const TensorType self = c.tensor(0).type();
  return {self, {DType::kPred, self.dims}};
}
std::vector<TensorType> LikeSelf(const Call& c) { return {c.tensor(0).type()}; }
std::vector<TensorType> LearnableGradients(const Call& c) {
  return {c.tensor(1).type(), c.tensor(2).type(), c.tensor(3).type()};
}

LOWER("aten::_fused_moving_avg_obs_fq_helper_functional", Observed, {.shape = ObservedShape});
LOWER("aten::fake_quantize_per_tensor_affine_cachemask", PerTensor, {.shape = ValueAndMask});
LOWER("aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", PerTensorQparams,
      {.shape = ValueAndMask});
LOWER("aten::fake_quantize_per_channel_affine_cachemask", PerChannel, {.shape = ValueAndMask});
LOWER("aten::_fake_quantize_learnable_per_tensor_affine", Learnable<false>, {.shape = LikeSelf});
LOWER("aten::_fake_quantize_learnable_per_channel_affine", Learnable<true>, {.shape = LikeSelf});
LOWER("aten::_fake_quantize_learnable_per_tensor_affine_backward", LearnableBackward<false>,
      {.shape = LearnableGradients});
LOWER("aten::_fake_quantize_learnable_per_channel_affine_backward", LearnableBackward<true>,
      {.shape = LearnableGradients});

}  // namespace
}  // namespace torch_tpu::ops
