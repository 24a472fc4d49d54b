// Mathematical functions of one argument: powers, exponentials, logarithms, trigonometry and the
// error function. Integer arguments are computed in the float dtype of the result.
#include <cmath>
#include <numbers>

#include "ops/pointwise.h"

namespace torch_tpu::ops {
Value Digamma(Value x) { return where(x == 0.0, CopySign(full_like(x, INFINITY), -x), digamma(x)); }

namespace {

template <Value (*kFunction)(Value)>
Value Function(Call& c) {
  return kFunction(ResultOperand(c, 0));
}

Value Reciprocal(Call& c) { return 1.0 / ResultOperand(c, 0); }

// 2^x through power, which is exact at whole numbers where exp(x log 2) is not.
Value Exp2(Call& c) {
  Value x = ResultOperand(c, 0);
  return power(full_like(x, 2.0), x);
}

// A whole power of the base gives a whole number, so that floor(log2(8)) is 3. A complex logarithm
// is scaled by its parts: as a complex product, infinity times the scale's zero would be NaN.
Value LogOfBase(Value x, double base) {
  double scale = 1.0 / std::log(base);
  Value y = log(x);
  if (IsComplex(y.dtype())) return complex(real(y) * scale, imag(y) * scale);
  y = y * scale;
  Value whole = round_nearest_even(y);
  return where(power(full_like(x, base), whole) == x, whole, y);
}

Value Log2(Call& c) { return LogOfBase(ResultOperand(c, 0), 2.0); }
Value Log10(Call& c) { return LogOfBase(ResultOperand(c, 0), 10.0); }

Value Sinc(Call& c) {
  Value x = ResultOperand(c, 0);
  Value y = x * std::numbers::pi;
  return where(x == 0.0, 1.0, sine(y) / y);
}

Value Logit(Call& c) {  // logit(self, eps)
  Value x = ResultOperand(c, 0);
  if (c.has(1)) {
    Value eps = ResultNumber(c, 1);
    x = min(max(x, eps), 1.0 - eps);
  }
  return log(x / (1.0 - x));
}

LOWER("aten::sqrt", Function<shlo::sqrt>);
LOWER("aten::rsqrt", Function<shlo::rsqrt>);
LOWER("aten::reciprocal", Reciprocal);
LOWER("aten::exp", Function<shlo::exponential>);
LOWER("aten::exp2", Exp2);
LOWER("aten::expm1", Function<shlo::exponential_minus_one>);
LOWER("aten::log", Function<shlo::log>);
LOWER("aten::log2", Log2);
LOWER("aten::log10", Log10);
LOWER("aten::log1p", Function<shlo::log_plus_one>);
LOWER("aten::sin", Function<shlo::sine>);
LOWER("aten::cos", Function<shlo::cosine>);
LOWER("aten::tan", Function<shlo::tan>);
LOWER("aten::asin", Function<shlo::asin>);
LOWER("aten::acos", Function<shlo::acos>);
LOWER("aten::atan", Function<shlo::atan>);
LOWER("aten::sinh", Function<shlo::sinh>);
LOWER("aten::cosh", Function<shlo::cosh>);
LOWER("aten::tanh", Function<shlo::tanh>);
LOWER("aten::asinh", Function<shlo::asinh>);
LOWER("aten::acosh", Function<shlo::acosh>);
LOWER("aten::atanh", Function<shlo::atanh>);
LOWER("aten::erf", Function<shlo::erf>);
LOWER("aten::erfc", Function<shlo::erfc>);
LOWER("aten::erfinv", Function<shlo::erf_inv>);
LOWER("aten::sigmoid", Function<shlo::logistic>);
LOWER("aten::lgamma", Function<shlo::lgamma>);
LOWER("aten::digamma", Function<Digamma>);
LOWER("aten::sinc", Sinc);
LOWER("aten::logit", Logit);

}  // namespace
}  // namespace torch_tpu::ops
