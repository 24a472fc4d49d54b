// Hurwitz's zeta function and the derivatives of digamma.
//
// StableHLO's chlo.zeta and chlo.polygamma take nine terms before the asymptotic tail whatever the
// argument, which leaves six digits at x = -7.4, and have no poles where PyTorch has them.
#include <cmath>
#include <numbers>

#include "ops/pointwise.h"
#include "ops/reduce_util.h"
#include "ops/special.h"

namespace torch_tpu::ops {
namespace {

// The sum of (q + k)^-x from k = 0 until q + k exceeds nine or a term is too small to count.
struct Head {
  Value sum, last_term, last_base, done;
};

// Each element has its own end; the loop ends with the last one. Numbers below -4096 end early,
// and lose the terms between there and zero.
Head SumHead(Value x, Value q) {
  constexpr double kMostTerms = 4096, kFewestTerms = 9, kTailFrom = 9;
  Builder& b = x.builder();
  const double epsilon = RoundOff(x.dtype());
  Value first = shlo::power(q, -x);
  const Value init[] = {shlo::scalar(b, 0.0, x.dtype()), q, first, first,
                        shlo::constant(b, 0, {DType::kPred, x.dims()})};
  const auto goes_on = [&](std::span<const Value> s) {
    return !s[4] & ((s[0] < kFewestTerms) | (s[1] <= kTailFrom)) & (s[0] < kMostTerms);
  };
  auto end = shlo::while_(
      init, [&](std::span<const Value> s) { return shlo::reduce_any(goes_on(s), AllDims(x)); },
      [&](std::span<const Value> s) {
        Value on = goes_on(s);
        Value base = shlo::select(on, s[1] + 1.0, s[1]);
        Value term = shlo::select(on, shlo::power(base, -x), s[3]);
        Value sum = shlo::select(on, s[2] + term, s[2]);
        Value small = on & (shlo::abs(term) < shlo::abs(sum) * epsilon);
        return std::vector<Value>{s[0] + 1.0, base, sum, term, s[4] | small};
      });
  return {end[2], end[3], end[1], end[4]};
}

// Euler and Maclaurin's estimate of the terms that follow.
Value AddTail(const Head& head, Value x) {
  // (2k)! / B(2k)
  constexpr double kDenominators[] = {12.0,
                                      -720.0,
                                      30240.0,
                                      -1209600.0,
                                      47900160.0,
                                      -1307674368000.0 / 691,
                                      74724249600.0,
                                      -10670622842880000.0 / 3617,
                                      5109094217170944000.0 / 43867,
                                      -802857662698291200000.0 / 174611,
                                      14101100039391805440000.0 / 77683,
                                      -1693824136731743669452800000.0 / 236364091};
  Value w = head.last_base, b = head.last_term, done = head.done;
  Value sum = head.sum + b * w / (x - 1.0) - b * 0.5;
  Value rising = shlo::full_like(x, 1.0);
  double k = 0;
  for (double denominator : kDenominators) {
    rising = rising * (x + k);
    b = b / w;
    Value term = rising * b / denominator;
    Value counts = shlo::abs(term) >= shlo::abs(sum) * RoundOff(x.dtype());
    sum = shlo::select(counts & !done, sum + term, sum);
    done = done | !counts;
    rising = rising * (x + (k + 1));
    b = b / w;
    k += 2;
  }
  return shlo::select(head.done, head.sum, sum);
}

Value HurwitzZeta(Value x, Value q) {
  Value y = AddTail(SumHead(x, q), x);
  // Poles at the whole numbers up to zero; between them only whole powers are real.
  Value pole = shlo::floor(q) == q;
  Value undefined = (x < 1.0) | ((q <= 0.0) & !pole & (shlo::floor(x) != x));
  y = shlo::where((q <= 0.0) & pole, INFINITY, y);
  y = shlo::where(undefined, NAN, y);
  y = shlo::select(shlo::is_nan(x) | shlo::is_nan(q), x + q, y);
  return shlo::where(x == 1.0, INFINITY, y);
}

// The first derivative: reflected to x >= 0.5, moved up by six, then the asymptotic series.
Value Trigamma(Value x) {
  Value reflect = x < 0.5;
  Value sine = shlo::sine(x * std::numbers::pi);
  Value reflected = std::numbers::pi * std::numbers::pi / (sine * sine);
  Value z = shlo::select(reflect, 1.0 - x, x);
  Value sum = shlo::full_like(x, 0.0);
  for (int i = 0; i < 6; ++i) {
    sum = sum + 1.0 / (z * z);
    z = z + 1.0;
  }
  Value u = 1.0 / (z * z);
  sum = sum + (1.0 + 0.5 / z + u * (1.0 / 6 - u * (1.0 / 30 - u / 42.0))) / z;
  return shlo::select(reflect, reflected - sum, sum);
}

Value Zeta(Call& c) { return HurwitzZeta(ResultOperand(c, 0), ResultOperand(c, 1)); }

Value Polygamma(Call& c) {  // polygamma(n, self)
  const int64_t n = c.integer(0);
  Value x = ResultOperand(c, 1);
  if (n == 0) return Digamma(x);
  if (n == 1) return Trigamma(x);
  const double order = static_cast<double>(n);
  const double factor = (n % 2 == 0 ? -1.0 : 1.0) * std::tgamma(order + 1);
  return HurwitzZeta(shlo::full_like(x, order + 1), x) * factor;
}

LOWER("aten::special_zeta", Zeta);
LOWER("aten::polygamma", Polygamma);

}  // namespace
}  // namespace torch_tpu::ops
