// Unary pointwise operators other than the mathematical functions: signs, rounding, NaN tests,
// bitwise and complex parts.
#include <cmath>
#include <numbers>

#include "ops/pointwise.h"

namespace torch_tpu::ops {
namespace {

using shlo::opmath;

bool HasNoSign(Value x) { return IsUnsigned(x.dtype()) || x.dtype() == DType::kPred; }

// --- signs -------------------------------------------------------------------------------------

Value Abs(Call& c) {
  Value x = opmath(c.tensor(0));
  return HasNoSign(x) ? x : abs(x);
}

Value Neg(Call& c) { return negate(c.tensor(0)); }

// 0 for NaN and for both zeros, which stablehlo.sign is not.
Value RealSign(Value x) {
  if (x.dtype() == DType::kPred) return x;
  return convert(x > 0.0, x.dtype()) - convert(x < 0.0, x.dtype());
}

Value Sign(Call& c) { return RealSign(c.tensor(0)); }

Value Sgn(Call& c) {
  Value x = c.tensor(0);
  return IsComplex(x.dtype()) ? sign(x) : RealSign(x);
}

Value SignBitOf(Call& c) { return SignBit(c.tensor(0)); }

LOWER("aten::abs", Abs);
LOWER("aten::neg", Neg);
LOWER("aten::sign", Sign);
LOWER("aten::sgn", Sgn);
LOWER("aten::signbit", SignBitOf);

// The parts of an IEEE float in memory.
struct FloatBits {
  DType bits;
  int fraction, bias;
};

// frexp(self) -> mantissa of [0.5, 1), exponent. Done on the bits, where no subnormal is flushed.
Results Frexp(Call& c) {
  Value x = opmath(c.tensor(0));
  const FloatBits f =
      x.dtype() == DType::kF64 ? FloatBits{DType::kS64, 52, 1023} : FloatBits{DType::kS32, 23, 127};
  Value bits = bitcast_convert(x, f.bits);
  const auto number = [&](int64_t n) {
    return broadcast_to(shlo::scalar(c.builder(), n, f.bits), x.dims());
  };
  Value fraction_mask = number((int64_t{1} << f.fraction) - 1);
  Value fraction = bits & fraction_mask;
  Value exponent = shift_right_logical(bits, number(f.fraction)) & number(2 * f.bias + 1);
  // A subnormal number is moved up until its first bit is the hidden one.
  const int width = 8 * static_cast<int>(DTypeSize(f.bits));
  Value shift = count_leading_zeros(fraction) - static_cast<double>(width - f.fraction - 1);
  Value subnormal = exponent == 0.0;
  fraction = where(subnormal, shift_left(fraction, shift) & fraction_mask, fraction);
  Value scale = where(subnormal, 1.0 - shift, exponent) - static_cast<double>(f.bias - 1);
  Value sign = bits & shift_left(number(1), number(width - 1));
  Value half = number(static_cast<int64_t>(f.bias - 1) << f.fraction);
  Value mantissa = bitcast_convert(sign | half | fraction, x.dtype());
  Value zero = (bits ^ sign) == 0.0, special = exponent == static_cast<double>(2 * f.bias + 1);
  return {where(zero | special, x, mantissa), where(zero | special, full_like(scale, 0), scale)};
}

std::vector<TensorType> FrexpShape(const Call& c) {
  const TensorType self = c.tensor(0).type();
  if (!IsFloat(self.dtype)) {
    throw shlo::BuildError("torch.frexp() only supports floating-point dtypes");
  }
  return {self, {DType::kS32, self.dims}};
}

LOWER("aten::frexp.Tensor", Frexp, {.shape = FrexpShape});

// --- rounding ----------------------------------------------------------------------------------

template <Value (*kRound)(Value)>
Value Rounded(Call& c) {
  Value x = opmath(c.tensor(0));
  return IsFloat(x.dtype()) ? kRound(x) : x;
}

Value RoundDecimals(Call& c) {
  int64_t decimals = c.integer(1);
  Value x = opmath(c.tensor(0));
  if (!IsFloat(x.dtype())) return x;
  if (decimals == 0) return round_nearest_even(x);
  double power = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  if (decimals < 0) return round_nearest_even(x / power) * power;
  return round_nearest_even(x * power) / power;
}

Value Frac(Call& c) {
  Value x = opmath(c.tensor(0));
  return x - Truncate(x);
}

LOWER("aten::ceil", Rounded<shlo::ceil>);
LOWER("aten::floor", Rounded<shlo::floor>);
LOWER("aten::round", Rounded<shlo::round_nearest_even>);
LOWER("aten::round.decimals", RoundDecimals);
LOWER("aten::trunc", Rounded<Truncate>);
LOWER("aten::frac", Frac);

// --- NaN and infinities --------------------------------------------------------------------------

Value IsNan(Call& c) { return is_nan(c.tensor(0)); }

// `test` on a float, on either part of a complex number; `otherwise` for integers.
template <typename Test>
Value FloatTest(Value x, const Test& test, bool otherwise) {
  if (IsFloat(x.dtype())) return test(opmath(x));
  return BoolLike(x, otherwise);
}

Value IsInf(Call& c) {
  Value x = c.tensor(0);
  auto test = [](Value v) { return abs(v) == INFINITY; };
  if (IsComplex(x.dtype())) return test(real(x)) | test(imag(x));
  return FloatTest(x, test, false);
}

Value IsFinite(Call& c) {
  Value x = c.tensor(0);
  if (IsComplex(x.dtype())) return is_finite(real(x)) & is_finite(imag(x));
  return FloatTest(x, shlo::is_finite, true);
}

Value IsPosInf(Call& c) {
  return FloatTest(c.tensor(0), [](Value v) { return v == INFINITY; }, false);
}

Value IsNegInf(Call& c) {
  return FloatTest(c.tensor(0), [](Value v) { return v == -INFINITY; }, false);
}

LOWER("aten::isnan", IsNan);
LOWER("aten::isinf", IsInf);
LOWER("aten::isfinite", IsFinite);
LOWER("aten::isposinf", IsPosInf);
LOWER("aten::isneginf", IsNegInf);

Value NanToNum(Call& c) {  // nan_to_num(self, nan, posinf, neginf)
  Value x = c.tensor(0);
  double largest = 0.0;
  auto replace = [&](Value v) {
    auto number = [&](int i, double fallback) {
      return c.has(i) ? convert(c.number(i), v.dtype()) : scalar(c.builder(), fallback, v.dtype());
    };
    Value y = where(is_nan(v), number(1, 0.0), v);
    y = where(v == INFINITY, number(2, largest), y);
    return where(v == -INFINITY, number(3, -largest), y);
  };
  if (IsComplex(x.dtype())) {
    largest = LargestFinite(RealType(x.dtype()));
    return complex(replace(real(x)), replace(imag(x)));
  }
  if (!IsFloat(x.dtype())) return x;
  largest = LargestFinite(x.dtype());
  return replace(opmath(x));
}

LOWER("aten::nan_to_num", NanToNum);

// --- bitwise and logical -------------------------------------------------------------------------

Value BitwiseNot(Call& c) { return not_(c.tensor(0)); }
Value LogicalNot(Call& c) { return c.tensor(0) == 0.0; }

LOWER("aten::bitwise_not", BitwiseNot);
LOWER("aten::logical_not", LogicalNot);

// --- complex parts -------------------------------------------------------------------------------

Value Positive(Call& c) { return c.tensor(0); }

Value Conjugate(Call& c) {
  Value x = c.tensor(0);
  return IsComplex(x.dtype()) ? complex(real(x), -imag(x)) : x;
}

Value Angle(Call& c) {
  Value x = c.tensor(0);
  if (IsComplex(x.dtype())) return atan2(imag(x), real(x));
  x = ResultOperand(c, 0);
  return where(is_nan(x), x, where(x < 0.0, full_like(x, std::numbers::pi), 0.0));
}

LOWER("aten::positive", Positive);
LOWER("aten::conj_physical", Conjugate);
LOWER("aten::_conj_physical", Conjugate);
LOWER("aten::angle", Angle);

}  // namespace
}  // namespace torch_tpu::ops
