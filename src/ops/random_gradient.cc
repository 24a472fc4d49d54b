// Gradients of gamma and Dirichlet samples in their shapes: how a sample moves while its quantile
// stands still, -(d cdf / d shape) / density. Computed in float64, since the terms cancel.
#include <cmath>
#include <functional>

#include "ops/pointwise.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

// sum of t_n and of t_n * w_n, where t_0 = 1, t_n = t_(n-1) * ratio(n) and w_n sums weight(k) for
// k = 1..n; until the terms are negligible.
struct Series {
  Value sum, weighted;
};
Series SumSeries(Value like, const std::function<Value(Value n)>& ratio,
                 const std::function<Value(Value n)>& weight) {
  constexpr double kMostTerms = 20000, kNegligible = 1e-18;
  Value zero = full_like(like, 0), one = full_like(like, 1);
  Value start = shlo::scalar(like.builder(), 1.0, like.dtype());
  const Value init[] = {start, BoolLike(like, true), one, zero, one, zero};
  auto end = while_(
      init,
      [&](std::span<const Value> v) {
        return shlo::reduce_any(v[1], AllDims(v[1])) & (v[0] < kMostTerms);
      },
      [&](std::span<const Value> v) -> Results {
        Value n = shlo::broadcast_to(v[0], like.dims());
        Value r = ratio(n), term = v[2] * r, w = v[3] + weight(n);
        Value sum = v[4] + where(v[1], term, 0.0), weighted = v[5] + where(v[1], term * w, 0.0);
        Value goes_on = v[1] & !((r < 1.0) & (term * (1.0 + abs(w)) < sum * kNegligible));
        return {v[0] + 1.0, goes_on, term, w, sum, weighted};
      });
  return {end[4], end[5]};
}

// For large shapes, the quantile's expansion around the normal distribution (Cornish and Fisher),
// differentiated.
Value LargeShapeGradient(Value alpha, Value x) {
  Value root = sqrt(alpha);
  Value start = (x - alpha) / root, z = start;
  Value square, cube;
  for (int step = 0; step < 5; ++step) {  // the standard normal number that x comes from
    square = z * z;
    Value terms = (square - 1.0) / 3.0 + z * (square - 7.0) / (root * 36.0) -
                  ((square * 3.0 + 7.0) * square - 16.0) / (alpha * 810.0);
    z = start - terms / root;
  }
  square = z * z;
  Value third = z * (square - 7.0) / (alpha * root * 72.0);
  Value fourth = ((square * 3.0 + 7.0) * square - 16.0) / (alpha * alpha * 810.0);
  return z / (root * 2.0) + 1.0 - third + fourth;
}

// Where x is far beyond alpha, by the asymptotic series of the upper tail: sums of
// t_n = (alpha - 1) ... (alpha - n) / x^n and of their derivatives.
Value UpperTailGradient(Value alpha, Value x) {
  Value term = full_like(x, 1), slope = full_like(x, 0), sum = term, slopes = slope;
  for (int n = 1; n <= 24; ++n) {
    Value factor = (alpha - static_cast<double>(n)) / x;
    slope = slope * factor + term / x;
    term = term * factor;
    sum = sum + term;
    slopes = slopes + slope;
  }
  return sum * (log(x) - digamma(alpha)) + slopes;
}

// _standard_gamma_grad(self, output)
Value GammaGradient(Call& c) {
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  Value alpha = convert(c.tensor(0), DType::kF64), x = convert(c.tensor(1), DType::kF64);
  Value large = alpha >= 100.0, upper = (x > alpha * 2.0 + 20.0) & !large;
  Value a = where(large | upper, 1.0, alpha), y = where(large | upper, 1.0, x);
  const Series s =
      SumSeries(a, [&](Value n) { return y / (a + n); }, [&](Value n) { return 1.0 / (a + n); });
  Value middle = -(y / a) * (s.sum * (log(y) - digamma(a + 1.0)) - s.weighted);
  Value tail = UpperTailGradient(where(upper, alpha, 1.0), where(upper, x, 30.0));
  Value bulk = LargeShapeGradient(where(large, alpha, 100.0), where(large, x, 100.0));
  return where(large, bulk, where(upper, tail, middle));
}

// The gradient of a Beta(alpha, beta) number in alpha, by the series of the incomplete beta
// function from the nearer end.
Value BetaGradient(Value x, Value alpha, Value beta) {
  Value total = alpha + beta;
  Value low = x * total <= alpha;
  Value p = where(low, alpha, beta), y = where(low, x, 1.0 - x);
  const Series joint = SumSeries(
      x, [&](Value n) { return (total + n - 1.0) / (p + n) * y; },
      [&](Value n) {
        Value of_total = 1.0 / (total + n - 1.0);
        return where(low, of_total - 1.0 / (p + n), of_total);
      });
  Value common = digamma(total);
  Value log_slope =
      where(low, log(x) - 1.0 / alpha + common - digamma(alpha), log(x) + common - digamma(alpha));
  Value slope = (joint.sum * log_slope + joint.weighted) * x / p;
  return where(low, -slope, slope);
}

// _dirichlet_grad(x, alpha, total)
Value DirichletGradient(Call& c) {
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  const auto read = [&](int i) { return convert(c.tensor(i), DType::kF64); };
  Value x = read(0), alpha = read(1), total = read(2);
  return BetaGradient(x, alpha, total - alpha);
}

std::vector<TensorType> LikeFirst(const Call& c) { return {c.tensor(0).type()}; }

LOWER("aten::_standard_gamma_grad", GammaGradient, {.shape = LikeFirst});
LOWER("aten::_dirichlet_grad", DirichletGradient, {.shape = LikeFirst});

}  // namespace
}  // namespace torch_tpu::ops
