// The regularised incomplete gamma functions, lower P(a, x) and upper Q(a, x).
//
// Up to x = a the power series of P converges, beyond it the continued fraction of Q; the other one
// is one minus it. Both are loops that end with the element that needs most terms.
#include <cmath>
#include <numbers>

#include "ops/pointwise.h"
#include "ops/reduce_util.h"
#include "ops/special.h"

namespace torch_tpu::ops {
namespace {

constexpr double kMostTerms = 2000;  // enough around a = x = 1e5, where both converge slowest

// log(1 + d) - d, which loses nothing to the difference where d is small.
Value Log1pMinus(Value d) {
  Value sum = shlo::full_like(d, 0.0);
  for (int k = 22; k >= 2; --k) sum = (sum + (k % 2 == 0 ? -1.0 : 1.0) / k) * d;
  return shlo::select(shlo::abs(d) < 0.2, sum * d, shlo::log_plus_one(d) - d);
}

// x^a exp(-x) / Gamma(a). For large a by Stirling's series around a = x, since the logarithms of
// the three factors are then large and their sum is small.
Value Factor(Value a, Value x) {
  Value plain = shlo::exponential(a * shlo::log(x) - x - shlo::lgamma(a));
  Value u = 1.0 / (a * a);
  Value correction =
      (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188.0)))) / a;
  Value stirling = shlo::exponential(a * Log1pMinus((x - a) / a) - correction) *
                   shlo::sqrt(a * (0.5 / std::numbers::pi));
  return shlo::select(a > 10.0, stirling, plain);
}

// P / Factor where x <= a: the sum of x^n / (a (a + 1) ... (a + n)).
Value Series(Value a, Value x) {
  Builder& b = a.builder();
  Value one = shlo::full_like(a, 1.0);
  const Value init[] = {shlo::scalar(b, 0.0, a.dtype()), one, one,
                        shlo::constant(b, 1, {DType::kPred, a.dims()})};
  auto end = shlo::while_(
      init,
      [&](std::span<const Value> s) {
        return shlo::reduce_any(s[3], AllDims(a)) & (s[0] < kMostTerms);
      },
      [&](std::span<const Value> s) {
        Value n = s[0] + 1.0;
        Value term = s[1] * x / (a + n);
        return std::vector<Value>{n, term, s[2] + term, term > s[2] * RoundOff(a.dtype())};
      });
  return end[2] / a;
}

// Q / Factor where x > a, by Lentz's evaluation of the continued fraction.
Value Fraction(Value a, Value x) {
  constexpr double kTiny = 1e-30;
  Builder& b = a.builder();
  const auto nonzero = [&](Value v) { return shlo::where(shlo::abs(v) < kTiny, kTiny, v); };
  Value first = 1.0 / nonzero(x + 1.0 - a);
  const Value init[] = {shlo::scalar(b, 0.0, a.dtype()), shlo::full_like(a, 1 / kTiny), first,
                        first, shlo::constant(b, 1, {DType::kPred, a.dims()})};
  auto end = shlo::while_(
      init,
      [&](std::span<const Value> s) {
        return shlo::reduce_any(s[4], AllDims(a)) & (s[0] < kMostTerms);
      },
      [&](std::span<const Value> s) {
        Value n = s[0] + 1.0;
        Value numerator = n * (a - n), denominator = x + 1.0 - a + n * 2.0;
        Value c = nonzero(denominator + numerator / s[1]);
        Value d = 1.0 / nonzero(denominator + numerator * s[2]);
        Value ratio = c * d;
        return std::vector<Value>{n, c, d, s[3] * ratio,
                                  shlo::abs(ratio - 1.0) > RoundOff(a.dtype()) * 2};
      });
  return end[3];
}

Value Incomplete(Call& c, bool upper) {
  Value a = ResultOperand(c, 0), x = ResultOperand(c, 1);
  Value lower_side = (x <= 1.0) | (x <= a);
  // Elements of the other side get an argument with which the loop ends at once.
  Value factor = Factor(a, x);
  Value p = factor * Series(a, shlo::where(lower_side, x, 0.0));
  Value q = factor * Fraction(shlo::where(lower_side, 1.0, a), shlo::where(lower_side, 2.0, x));
  Value y = upper ? shlo::select(lower_side, 1.0 - p, q) : shlo::select(lower_side, p, 1.0 - q);
  const double at_zero = upper ? 1 : 0, at_infinity = 1 - at_zero;
  Value a_infinite = shlo::abs(a) == INFINITY, x_infinite = shlo::abs(x) == INFINITY;
  y = shlo::where(x_infinite, at_infinity, y);
  y = shlo::where(a_infinite, shlo::where(x_infinite, NAN, shlo::full_like(y, at_zero)), y);
  y = shlo::where(x == 0.0, at_zero, y);
  y = shlo::where(a == 0.0, shlo::where(x > 0.0, at_infinity, shlo::full_like(y, NAN)), y);
  y = shlo::where((a < 0.0) | (x < 0.0), NAN, y);
  return shlo::select(shlo::is_nan(a) | shlo::is_nan(x), a + x, y);
}

Value Igamma(Call& c) { return Incomplete(c, /*upper=*/false); }
Value Igammac(Call& c) { return Incomplete(c, /*upper=*/true); }

LOWER("aten::igamma", Igamma);
LOWER("aten::igammac", Igammac);

}  // namespace
}  // namespace torch_tpu::ops
