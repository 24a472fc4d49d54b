// Special functions: Bessel functions of order 0 and 1, the scaled error function, and the normal
// distribution.
//
// The Chebyshev coefficients are expansions of the functions named beside them, computed with 40
// digits (mpmath) and cut where they fall below the precision of float64.
#include "ops/special.h"

#include <cmath>
#include <numbers>
#include <span>

#include "ops/pointwise.h"

namespace torch_tpu::ops {

Value Chebyshev(Value t, std::span<const double> coefficients) {
  double smallest = (t.dtype() == DType::kF64 ? 1e-17 : 1e-9) * std::abs(coefficients[0]);
  size_t k = coefficients.size() - 1;
  while (k > 1 && std::abs(coefficients[k]) < smallest) --k;
  Value twice = t * 2.0, next = full_like(t, coefficients[k]), after = full_like(t, 0.0);
  while (--k > 0) {
    Value current = twice * next - after + coefficients[k];
    after = next;
    next = current;
  }
  return t * next - after + coefficients[0] * 0.5;
}

double RoundOff(DType dtype) { return dtype == DType::kF64 ? 0x1p-53 : 0x1p-24; }

namespace {

// --- Bessel functions
// --------------------------------------------------------------------------------

// exp(-x) I0(x) on [0, 8], in x / 4 - 1.
constexpr double kI0Small[] = {
    0.67679527440947608,     -0.3046826723431984,     0.17162090152220878,
    -0.094901097048047644,   0.049305284239670708,    -0.023737414805899469,
    0.010546460394594998,    -0.0043243099950505759,  0.0016394756169413358,
    -0.00057637557453858237, 0.00018850288509584166,  -5.7541950100821037e-5,
    1.6448448070728897e-5,   -4.4167383584587506e-6,  1.1173875391201037e-6,
    -2.6707938539406117e-7,  6.0469950225419189e-8,   -1.300025009986248e-8,
    2.6598237246823867e-9,   -5.1897956016352629e-10, 9.6758090353732369e-11,
    -1.7268262914415557e-11, 2.9550526631296398e-12,  -4.8564467831119295e-13,
    7.6761854986049356e-14,  -1.1685332877993452e-14, 1.715391285555133e-15,
    -2.4312798465479547e-16, 3.3307945188222381e-17};
// sqrt(x) exp(-x) I0(x) on [8, inf), in 16 / x - 1.
constexpr double kI0Large[] = {
    0.80449041101410883,     0.0033691164782556941,   6.889758346916824e-5,
    2.8913705208347565e-6,   2.0489185894690637e-7,   2.2666689904981781e-8,
    3.3962320257083863e-9,   4.9406023882249696e-10,  1.1889147107846438e-11,
    -3.1499165279632414e-11, -1.3215811840447713e-11, -1.7941785315068061e-12,
    7.1801244513836662e-13,  3.8527783827421427e-13,  1.5400862175214098e-14,
    -4.1505693472872221e-14, -9.5548466988283076e-15, 3.8116806693526224e-15,
    1.7725601330565264e-15,  -3.4254856196772191e-16, -2.8276239805165835e-16,
    3.4612228676974611e-17,  4.46562142029676e-17};

Value BesselI0e(Value x) {
  x = abs(x);
  Value small = Chebyshev(x * 0.25 - 1.0, kI0Small);
  Value large = Chebyshev(16.0 / x - 1.0, kI0Large) / sqrt(x);
  return where(x <= 8.0, small, large);
}

Value I0e(Call& c) { return BesselI0e(ResultOperand(c, 0)); }
Value I1e(Call& c) { return bessel_i1e(ResultOperand(c, 0)); }

Value I0(Call& c) {
  Value x = ResultOperand(c, 0);
  return exponential(abs(x)) * BesselI0e(x);
}

Value I1(Call& c) {
  Value x = ResultOperand(c, 0);
  return exponential(abs(x)) * bessel_i1e(x);
}

LOWER("aten::special_i0e", I0e);
LOWER("aten::special_i1e", I1e);
LOWER("aten::i0", I0);
LOWER("aten::special_i1", I1);
LOWER("aten::special_modified_bessel_i0", I0);
LOWER("aten::special_modified_bessel_i1", I1);

// --- error function and normal distribution
// ------------------------------------------------------------

// (1 + 2 x) exp(x^2) erfc(x) on [0, inf), in (x - 3.75) / (x + 3.75).
constexpr double kScaledErfc[] = {
    2.3551578691348035,      -0.0045900545806464773,  -0.084249133366517916,
    0.05920993999819189,     -0.026658668435305752,   0.0090749976707052651,
    -0.0024131635404176082,  0.00049077583652580863,  -6.9169733025012064e-5,
    4.1390279860730102e-6,   7.7403830661984907e-7,   -2.1886401049234396e-7,
    1.076499946567091e-8,    4.5219598112182869e-9,   -7.7544002088313511e-10,
    -6.3180883408866845e-11, 2.8687950109306699e-11,  1.9455868545777347e-13,
    -9.6546967484334389e-13, 3.2525481481487398e-14,  3.3478119482868054e-14,
    -1.864562880419313e-15,  -1.2507950530688646e-15, 7.4182352566240509e-17};

// exp(x^2) erfc(x) for x >= 0.
Value ScaledErfcOfPositive(Value x) {
  Value t = where(x == INFINITY, 1.0, (x - 3.75) / (x + 3.75));
  return Chebyshev(t, kScaledErfc) / (x * 2.0 + 1.0);
}

Value Erfcx(Call& c) {
  Value x = ResultOperand(c, 0);
  Value magnitude = abs(x);
  Value positive = ScaledErfcOfPositive(magnitude);
  return where(x < 0.0, exponential(x * x) * 2.0 - positive, positive);
}

// The logarithm of the normal distribution function at x <= 0.
Value LogNormalTail(Value x) {
  Value t = x * -(1.0 / std::numbers::sqrt2);
  return log(ScaledErfcOfPositive(t) * 0.5) - t * t;
}

Value LogNdtr(Call& c) {
  Value x = ResultOperand(c, 0);
  Value center = log_plus_one(erfc(x * (1.0 / std::numbers::sqrt2)) * -0.5);
  return where(x < -1.0, LogNormalTail(min(x, full_like(x, 0.0))), center);
}

// The x <= 0 with normal distribution function q <= 0.5: a rational first guess (Abramowitz and
// Stegun 26.2.23, within 4.5e-4), then Newton steps on the logarithm, where the function is close
// to a parabola.
Value LowerTailQuantile(Value q) {
  Value log_q = log(q);
  Value t = sqrt(log_q * -2.0);
  Value numerator = (t * 0.010328 + 0.802853) * t + 2.515517;
  Value denominator = ((t * 0.001308 + 0.189269) * t + 1.432788) * t + 1.0;
  Value x = min(numerator / denominator - t, full_like(t, 0.0));
  for (int step = 0; step < 2; ++step) {
    Value scaled = ScaledErfcOfPositive(x * -(1.0 / std::numbers::sqrt2));
    Value slope = (std::numbers::sqrt2 * std::numbers::inv_sqrtpi) / scaled;
    x = min(x - (LogNormalTail(x) - log_q) / slope, full_like(x, 0.0));
  }
  return where(q == 0.0, -INFINITY, x);
}

Value Ndtri(Call& c) {
  Value p = ResultOperand(c, 0);
  Value center = erf_inv(p * 2.0 - 1.0) * std::numbers::sqrt2;
  Value upper = p > 0.5;
  Value tail = LowerTailQuantile(where(upper, 1.0 - p, p));
  tail = where(upper, -tail, tail);
  return where((p > 0.05) & (p < 0.95), center, tail);
}

Value Entr(Call& c) {
  Value x = ResultOperand(c, 0);
  Value product = -x * log(x);
  return where(is_nan(x), x,
               where(x > 0.0, product, where(x == 0.0, full_like(x, 0.0), -INFINITY)));
}

LOWER("aten::special_erfcx", Erfcx);
LOWER("aten::special_log_ndtr", LogNdtr);
LOWER("aten::special_ndtri", Ndtri);
LOWER("aten::special_entr", Entr);

}  // namespace
}  // namespace torch_tpu::ops
