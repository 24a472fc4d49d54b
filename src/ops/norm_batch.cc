// Batch normalisation and its gradient, and the pieces that synchronised batch normalisation is
// made of.
//
// native_batch_norm and _native_batch_norm_legit return five values: out, save_mean, save_invstd
// and the new running statistics, which the caller stores (both schemas return three; the first
// does not even mark what it writes). The last two are empty in evaluation, and left out where the
// call has no running statistics.
#include "ops/norm.h"

namespace torch_tpu::ops {
namespace {

// All dims but the channels.
Dims ReducedDims(Value x) {
  Dims dims = DimRange(2, x.rank());
  dims.insert(dims.begin(), 0);
  return dims;
}

// One value a channel, spread over x.
Value OnChannels(Value v, Value x) {
  return shlo::broadcast_in_dim(shlo::convert(v, x.dtype()), x.dims(), {1});
}

Value PerChannel(Value v, Value x) { return shlo::reshape(v, {x.dim(1)}); }

Dims StatisticDims(Value x) {
  Dims dims(static_cast<size_t>(x.rank()), 1);
  dims[1] = x.dim(1);
  return dims;
}

int64_t CountPerChannel(Value x) {
  int64_t count = x.dim(0);
  for (int64_t d = 2; d < x.rank(); ++d) count *= x.dim(d);
  return count;
}

// (x - mean) * invstd * weight + bias; weight and bias are arguments 1 and 2.
Value NormalizeChannels(const Call& c, Value x, Value mean, Value invstd) {
  Value y = (x - OnChannels(mean, x)) * OnChannels(invstd, x);
  if (c.has(1)) y = y * OnChannels(c.tensor(1), x);
  if (c.has(2)) y = y + OnChannels(c.tensor(2), x);
  return y;
}

// What x adds to a running statistic, in the statistic's own dtype.
Value Running(Value running, Value update, Value momentum) {
  Value old = shlo::opmath(running);
  Value m = shlo::convert(momentum, old.dtype());
  return shlo::convert(old * (1.0 - m) + shlo::convert(update, old.dtype()) * m, running.dtype());
}

Value Unbiased(Value variance, int64_t count) {
  const double n = static_cast<double>(count);
  return variance * (n / (n - 1));
}

// Arguments by position; -1 where an overload has none.
struct BatchNormArguments {
  int running_mean, running_var, momentum, eps;
};

Results NormalizeBatch(Call& c, const BatchNormArguments& a, bool training) {
  Value x = shlo::opmath(c.tensor(0));
  Value eps = c.number(a.eps);
  Results results(5);
  if (!training) {
    Value mean = shlo::convert(c.tensor(a.running_mean), x.dtype());
    Value invstd = shlo::rsqrt(shlo::convert(c.tensor(a.running_var), x.dtype()) + eps);
    results[0] = NormalizeChannels(c, x, mean, invstd);
    results[1] = mean;
    results[2] = invstd;
    return results;
  }
  const Moments m = MomentsOver(x, ReducedDims(x));
  Value mean = PerChannel(m.mean, x), variance = PerChannel(m.variance, x);
  Value invstd = shlo::rsqrt(variance + eps);
  results[0] = NormalizeChannels(c, x, mean, invstd);
  results[1] = mean;
  results[2] = invstd;
  if (a.running_mean >= 0 && c.has(a.running_mean)) {
    results[3] = Running(c.tensor(a.running_mean), mean, c.number(a.momentum));
  }
  if (a.running_var >= 0 && c.has(a.running_var)) {
    results[4] = Running(c.tensor(a.running_var), Unbiased(variance, CountPerChannel(x)),
                         c.number(a.momentum));
  }
  return results;
}

// input, weight, bias, running_mean, running_var, training, momentum, eps
Results BatchNorm(Call& c) {
  Results results = NormalizeBatch(c, {3, 4, 6, 7}, c.boolean(5));
  results.resize(c.num_outs());
  return results;
}

// The same with running statistics that are results in evaluation too. The form that writes them
// leaves them alone then.
Results BatchNormFunctional(Call& c) {
  Results results = BatchNorm(c);
  if (c.boolean(5)) return results;
  for (int i : {3, 4}) {
    if (c.out(i).dtype != DType::kInvalid) results[i] = c.tensor(i);
  }
  return results;
}

// input, weight, bias, training, momentum, eps
Results BatchNormNoStats(Call& c) {
  Results results = NormalizeBatch(c, {-1, -1, 4, 5}, true);
  results.resize(3);
  return results;
}

// input, weight, bias, running_mean, running_var, momentum, eps
Results BatchNormNoTraining(Call& c) {
  Results results = NormalizeBatch(c, {3, 4, 5, 6}, false);
  results.resize(3);
  return results;
}

// The same, and the reserve of its gradient, which is empty.
Results BatchNormNoUpdate(Call& c) {
  Results results = BatchNormNoTraining(c);
  results.push_back(constant(c.builder(), 0, c.out(3)));
  return results;
}

// grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps,
// output_mask
Results BatchNormBackward(Call& c) {
  Value dy = shlo::opmath(c.tensor(0)), x = shlo::opmath(c.tensor(1));
  const bool training = c.boolean(7);
  const std::vector<bool> mask = c.bools(9);
  Value mean = shlo::convert(c.tensor(training ? 5 : 3), x.dtype());
  Value invstd = training ? shlo::convert(c.tensor(6), x.dtype())
                          : shlo::rsqrt(shlo::convert(c.tensor(4), x.dtype()) + c.number(8));
  Value x_hat = (x - OnChannels(mean, x)) * OnChannels(invstd, x);
  const Dims reduced = ReducedDims(x);
  Results grads(3);
  // Meta promises a gradient of the input even where the mask does not ask for it.
  if (c.out().dtype != DType::kInvalid) {
    Value dx_hat = c.has(2) ? dy * OnChannels(c.tensor(2), dy) : dy;
    grads[0] = training ? NormalizeBackward(dx_hat, x_hat, shlo::reshape(invstd, StatisticDims(x)),
                                            reduced)
                        : dx_hat * OnChannels(invstd, x);
  }
  if (mask[1]) grads[1] = shlo::reduce_sum(dy * x_hat, reduced);
  if (mask[2]) grads[2] = shlo::reduce_sum(dy, reduced);
  return grads;
}

// --- synchronised over processes: statistics, their union, normalisation, and the same backward
// ---

TensorType StatisticType(Value x) { return {shlo::opmath_dtype(x.dtype()), {x.dim(1)}}; }

// input, eps -> mean, invstd
Results Stats(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const Moments m = MomentsOver(x, ReducedDims(x));
  return {PerChannel(m.mean, x), PerChannel(shlo::rsqrt(m.variance + c.number(1)), x)};
}

std::vector<TensorType> StatsShape(const Call& c) {
  return {StatisticType(c.tensor(0)), StatisticType(c.tensor(0))};
}

// input, running_mean, running_var, momentum -> mean, biased variance and the new running
// statistics (the schema does not mark that it writes them)
Results UpdateStats(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const Moments m = MomentsOver(x, ReducedDims(x));
  Value mean = PerChannel(m.mean, x), variance = PerChannel(m.variance, x);
  Results results = {mean, variance, Value(), Value()};
  if (c.has(1)) results[2] = Running(c.tensor(1), mean, c.number(3));
  if (c.has(2)) {
    results[3] = Running(c.tensor(2), Unbiased(variance, CountPerChannel(x)), c.number(3));
  }
  results.resize(c.num_outs());  // two without running statistics
  return results;
}

std::vector<TensorType> UpdateStatsShape(const Call& c) {
  const TensorType type = {c.tensor(0).dtype(), {c.tensor(0).dim(1)}};
  std::vector<TensorType> types = {type, type, {}, {}};
  if (c.has(1)) types[2] = c.tensor(1).type();
  if (c.has(2)) types[3] = c.tensor(2).type();
  return types;
}

// input, mean[w, C], invstd[w, C], running_mean, running_var, momentum, eps, counts[w] -> mean,
// invstd and the new running statistics (the schema does not mark that it writes them)
Results GatherStats(Call& c) {
  Value mean = shlo::opmath(c.tensor(1)), invstd = shlo::opmath(c.tensor(2));
  Value eps = c.number(6);
  Value counts = shlo::broadcast_in_dim(shlo::convert(c.tensor(7), mean.dtype()), mean.dims(), {0});
  Value total = shlo::reduce_sum(counts, {0});
  Value joint = shlo::reduce_sum(mean * counts, {0}) / total;
  Value away = mean - Like(joint, mean);
  Value squares = (1.0 / (invstd * invstd) - eps + away * away) * counts;
  Value sum = shlo::reduce_sum(squares, {0});
  Results results = {joint, shlo::rsqrt(sum / total + eps), Value(), Value()};
  if (c.has(3)) results[2] = Running(c.tensor(3), joint, c.number(5));
  if (c.has(4)) results[3] = Running(c.tensor(4), sum / (total - 1.0), c.number(5));
  results.resize(c.num_outs());  // two without running statistics
  return results;
}

std::vector<TensorType> GatherStatsShape(const Call& c) {
  const TensorType type = StatisticType(c.tensor(0));
  std::vector<TensorType> types = {type, type, {}, {}};
  if (c.has(3)) types[2] = c.tensor(3).type();
  if (c.has(4)) types[3] = c.tensor(4).type();
  return types;
}

// input, weight, bias, mean, invstd, eps
Value Elemt(Call& c) {
  return NormalizeChannels(c, shlo::opmath(c.tensor(0)), c.tensor(3), c.tensor(4));
}

std::vector<TensorType> LikeFirst(const Call& c) { return {c.tensor(0).type()}; }

// grad_out, input, mean, invstd, weight, input_g, weight_g, bias_g -> sum_dy, sum_dy_xmu,
// grad_weight, grad_bias
Results BackwardReduce(Call& c) {
  Value dy = shlo::opmath(c.tensor(0)), x = shlo::opmath(c.tensor(1));
  const Dims reduced = ReducedDims(x);
  Value sum = shlo::reduce_sum(dy, reduced);
  Value sum_centered = shlo::reduce_sum(dy * (x - OnChannels(c.tensor(2), x)), reduced);
  Results results(4);
  if (c.boolean(5)) {
    results[0] = sum;
    results[1] = sum_centered;
  }
  if (c.boolean(6)) results[2] = sum_centered * shlo::convert(c.tensor(3), sum.dtype());
  if (c.boolean(7)) results[3] = sum;
  return results;
}

std::vector<TensorType> BackwardReduceShape(const Call& c) {
  const TensorType sum = StatisticType(c.tensor(1));
  const TensorType grad = {c.has(4) ? c.tensor(4).dtype() : c.tensor(1).dtype(), sum.dims};
  std::vector<TensorType> types(4);
  if (c.boolean(5)) types[0] = types[1] = sum;
  if (c.boolean(6)) types[2] = grad;
  if (c.boolean(7)) types[3] = grad;
  return types;
}

// grad_out, input, mean, invstd, weight, sum_dy, sum_dy_xmu, count[w]
Value BackwardElemt(Call& c) {
  Value dy = shlo::opmath(c.tensor(0)), x = shlo::opmath(c.tensor(1));
  Value invstd = shlo::convert(c.tensor(3), x.dtype());
  Value total = shlo::reduce_sum(shlo::convert(c.tensor(7), x.dtype()), {0});
  Value mean_dy = shlo::convert(c.tensor(5), x.dtype()) / total;
  Value slope = shlo::convert(c.tensor(6), x.dtype()) / total * invstd * invstd;
  Value scale = c.has(4) ? invstd * shlo::convert(c.tensor(4), x.dtype()) : invstd;
  Value centered = x - OnChannels(c.tensor(2), x);
  return (dy - OnChannels(mean_dy, x) - centered * OnChannels(slope, x)) * OnChannels(scale, x);
}

LOWER("aten::native_batch_norm", BatchNorm);
LOWER("aten::_native_batch_norm_legit", BatchNorm);
LOWER("aten::_native_batch_norm_legit.no_stats", BatchNormNoStats);
LOWER("aten::_native_batch_norm_legit_no_training", BatchNormNoTraining);
LOWER("aten::_native_batch_norm_legit_functional", BatchNormFunctional);
LOWER("aten::_batch_norm_no_update", BatchNormNoUpdate);
LOWER("aten::native_batch_norm_backward", BatchNormBackward);
LOWER("aten::batch_norm_stats", Stats, {.shape = StatsShape});
LOWER("aten::batch_norm_update_stats", UpdateStats, {.shape = UpdateStatsShape});
LOWER("aten::batch_norm_gather_stats_with_counts", GatherStats, {.shape = GatherStatsShape});
LOWER("aten::batch_norm_elemt", Elemt, {.shape = LikeFirst});
LOWER("aten::batch_norm_backward_reduce", BackwardReduce, {.shape = BackwardReduceShape});
LOWER("aten::batch_norm_backward_elemt", BackwardElemt, {.shape = LikeFirst});

}  // namespace
}  // namespace torch_tpu::ops
