// Binary arithmetic: sums, products, quotients, remainders, powers and their floating-point
// relatives.
#include <cmath>
#include <numbers>

#include "ops/pointwise.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

// --- sums and products
// -----------------------------------------------------------------------------

Value Scaled(Call& c, int tensor, int alpha) {
  Value x = ResultOperand(c, tensor);
  return c.number_is(alpha, 1) ? x : x * ResultNumber(c, alpha);
}

Value Add(Call& c) { return ResultOperand(c, 0) + Scaled(c, 1, 2); }   // add(self, other, alpha)
Value Sub(Call& c) { return ResultOperand(c, 0) - Scaled(c, 1, 2); }   // sub(self, other, alpha)
Value Rsub(Call& c) { return ResultOperand(c, 1) - Scaled(c, 0, 2); }  // rsub(self, other, alpha)

bool IsMask(const Call& c, int i) { return c.tensor(i).dtype() == DType::kPred; }

// The compiler takes a product with a converted boolean for a choice between the number and 0, but
// infinity and NaN times false are NaN: the gradient of amax of a NaN.
Value MaskTimes(const Call& c, int mask, int number) {
  Value x = WideOperand(c, number);
  return where(broadcast_to(c.tensor(mask), c.out().dims), x, x * 0.0);
}

Value Mul(Call& c) {
  if (IsFloat(c.out().dtype)) {
    if (IsMask(c, 0)) return MaskTimes(c, 0, 1);
    if (IsMask(c, 1)) return MaskTimes(c, 1, 0);
  }
  return WideOperand(c, 0) * WideOperand(c, 1);
}

LOWER("aten::add", Add);
LOWER("aten::sub", Sub);
LOWER("aten::rsub", Rsub);
LOWER("aten::mul", Mul);

// --- quotients and remainders
// ------------------------------------------------------------------------

Value HaveOppositeSigns(Value a, Value b) {
  Value negative = a < 0.0, other_negative = b < 0.0;
  return negative != other_negative;
}

// Whether `b` is an integer that may be zero. CPU raises then; a device cannot, and XLA divides
// constants by its host's instruction, which traps. So no program divides an integer by zero.
bool MayBeZero(Value b) {
  return !IsFloat(b.dtype()) && b.builder().SplatConstant(b).value_or(0) == 0;
}

// a / b truncated; -1 (of unsigned dtypes the largest) where b is zero.
Value Quotient(Value a, Value b) {
  if (!MayBeZero(b)) return a / b;
  Value zero = b == 0.0;
  return where(zero, full_like(a, -1.0), a / where(zero, full_like(b, 1.0), b));
}

// With the sign of a; a where b is zero.
Value Rest(Value a, Value b) {
  if (!MayBeZero(b)) return remainder(a, b);
  Value zero = b == 0.0;
  return where(zero, a, remainder(a, where(zero, full_like(b, 1.0), b)));
}

Value FloorDivideIntegers(Value a, Value b) {
  Value quotient = Quotient(a, b);
  if (!IsSigned(a.dtype())) return quotient;
  Value rest = Rest(a, b);
  Value inexact = rest != 0.0;
  inexact = inexact & (b != 0.0);
  Value rounded_up = inexact & HaveOppositeSigns(a, b);
  return where(rounded_up, quotient - 1.0, quotient);
}

// Python's floor division on floats: (a - fmod(a, b)) / b is exact where floor(a / b) may round up
// to a whole number.
Value FloorDivideFloats(Value a, Value b) {
  Value mod = remainder(a, b);
  Value div = (a - mod) / b;
  div = where((mod != 0.0) & HaveOppositeSigns(b, mod), div - 1.0, div);
  Value floored = floor(div);
  floored = where(div - floored > 0.5, floored + 1.0, floored);
  Value quotient = a / b;
  Value result = where(div != 0.0, floored, CopySign(full_like(a, 0.0), quotient));
  return where(b == 0.0, quotient, result);
}

Value FloorQuotient(Value a, Value b) {
  return IsFloat(a.dtype()) ? FloorDivideFloats(a, b) : FloorDivideIntegers(a, b);
}

Value Div(Call& c) { return WideOperand(c, 0) / WideOperand(c, 1); }

Value DivMode(Call& c) {  // div(self, other, rounding_mode)
  auto mode = c.opt_string(2);
  if (!mode) return Div(c);
  Value a = ResultOperand(c, 0), b = ResultOperand(c, 1);
  if (*mode == "floor") return FloorQuotient(a, b);
  // What is truncated is the quotient as the result holds it: 3 / 0.3 is 10 in float16.
  return Truncate(RoundTo(Quotient(a, b), c.out().dtype));
}

Value FloorDivide(Call& c) { return FloorQuotient(ResultOperand(c, 0), ResultOperand(c, 1)); }

Value Remainder(Call& c) {
  Value a = ResultOperand(c, 0), b = ResultOperand(c, 1);
  Value mod = Rest(a, b);
  if (!IsFloat(a.dtype()) && !IsSigned(a.dtype())) return mod;
  return where((mod != 0.0) & HaveOppositeSigns(b, mod), mod + b, mod);
}

Value Fmod(Call& c) { return Rest(ResultOperand(c, 0), ResultOperand(c, 1)); }

LOWER("aten::div", Div);
LOWER("aten::div.Tensor_mode", DivMode);
LOWER("aten::div.Scalar_mode", DivMode);
LOWER("aten::floor_divide", FloorDivide);
LOWER("aten::remainder", Remainder);
LOWER("aten::fmod", Fmod);

// --- powers
// ------------------------------------------------------------------------------------------

// Wraps around like repeated multiplication. To a negative power all but 1 and -1 give 0.
Value IntegerPower(Value base, Value exponent) {
  Value one = full_like(base, 1.0);
  Value odd_unit = where((exponent & one) == 0.0, base * base, base);
  Value of_negative = where((base == 1.0) | (base == -1.0), odd_unit, 0.0);
  Value init[] = {one, base, where(exponent < 0.0, 0.0, exponent)};
  Value power = while_(
      init, [](auto v) { return reduce_any(v[2] > 0.0, AllDims(v[2])); },
      [&](auto v) {
        Value is_odd = (v[2] & full_like(v[2], 1.0)) != 0.0;
        return std::vector<Value>{where(is_odd, v[0] * v[1], v[0]), v[1] * v[1],
                                  shift_right_logical(v[2], full_like(v[2], 1.0))};
      })[0];
  return where(exponent < 0.0, of_negative, power);
}

// std::pow of a complex 0 goes through its logarithm, which the plugin's product with a zero part
// makes NaN.
Value ComplexPower(Value base, Value exponent) {
  return where((base == 0.0) & (real(exponent) > 0.0), 0.0, power(base, exponent));
}

Value Power(Value base, Value exponent) {
  if (IsInteger(base.dtype())) return IntegerPower(base, exponent);
  return IsComplex(base.dtype()) ? ComplexPower(base, exponent) : power(base, exponent);
}

Value Pow(Call& c) { return Power(ResultOperand(c, 0), ResultOperand(c, 1)); }  // (self, exponent)

bool KnownNegative(const Call& c, int i) {
  const auto* n = std::get_if<Number>(&c.args[static_cast<size_t>(i)].v);
  return n != nullptr && n->constant && n->constant->real() < 0;
}

// pow(tensor, number): numbers that are always constants have forms that are faster and, for 0.5,
// other at -inf.
Value PowNumber(Call& c) {
  Value base = ResultOperand(c, 0);
  if (c.number_is(1, 1)) return base;
  if (c.number_is(1, 2)) return base * base;
  if (IsInteger(base.dtype())) {
    // PyTorch's Meta kernel lets it pass.
    if (KnownNegative(c, 1))
      throw shlo::BuildError("Integers to negative integer powers are not allowed.");
    return Pow(c);
  }
  if (c.number_is(1, -1)) return 1.0 / base;
  if (c.number_is(1, 0.5)) return sqrt(base);
  return Pow(c);
}

LOWER("aten::pow", Pow);
// A negative integer exponent of integers is an error, so that such calls may share no program.
LOWER("aten::pow.Tensor_Scalar", PowNumber, {.static_integers = {1}});

// --- larger and smaller
// --------------------------------------------------------------------------------

Value Maximum(Call& c) { return max(ResultOperand(c, 0), ResultOperand(c, 1)); }
Value Minimum(Call& c) { return min(ResultOperand(c, 0), ResultOperand(c, 1)); }

// fmax and fmin: the other operand where one is NaN.
template <Value (*kSelect)(Value, Value)>
Value IgnoreNan(Call& c) {
  Value a = ResultOperand(c, 0), b = ResultOperand(c, 1);
  if (!IsFloat(a.dtype())) return kSelect(a, b);
  return where(is_nan(a), b, where(is_nan(b), a, kSelect(a, b)));
}

LOWER("aten::maximum", Maximum);
LOWER("aten::minimum", Minimum);
LOWER("aten::fmax", IgnoreNan<shlo::max>);
LOWER("aten::fmin", IgnoreNan<shlo::min>);

// --- floats
// --------------------------------------------------------------------------------------------

Value Atan2(Call& c) { return atan2(ResultOperand(c, 0), ResultOperand(c, 1)); }

// Scaled by the larger leg, so that squares neither overflow nor vanish.
Value Hypot(Call& c) {
  Value a = abs(ResultOperand(c, 0)), b = abs(ResultOperand(c, 1));
  Value large = max(a, b), small = min(a, b);
  Value ratio = where(large == 0.0, 0.0, small / large);
  Value length = large * sqrt(ratio * ratio + 1.0);
  return where((a == INFINITY) | (b == INFINITY), INFINITY, length);
}

Value Copysign(Call& c) { return CopySign(ResultOperand(c, 0), ResultOperand(c, 1)); }

// Of equal infinities the difference is NaN and the sum of exponentials is that infinity.
Value LogAddExp(Call& c) {
  Value a = ResultOperand(c, 0), b = ResultOperand(c, 1);
  if (IsComplex(a.dtype())) {
    Value swap = real(a) < real(b);
    Value large = select(swap, b, a), small = select(swap, a, b);
    return large + log_plus_one(exponential(small - large));
  }
  Value sum = max(a, b) + log_plus_one(exponential(-abs(a - b)));
  return where((a == b) & (abs(a) == INFINITY), a, sum);
}

Value LogAddExp2(Call& c) {
  constexpr double kLn2 = std::numbers::ln2;
  Value a = ResultOperand(c, 0), b = ResultOperand(c, 1);
  Value sum = max(a, b) + log_plus_one(exponential(abs(a - b) * -kLn2)) * (1.0 / kLn2);
  return where((a == b) & (abs(a) == INFINITY), a, sum);
}

template <Value (*kLog)(Value)>
Value XLogY(Call& c) {
  Value x = ResultOperand(c, 0), y = ResultOperand(c, 1);
  return where(is_nan(y), y, where(x == 0.0, 0.0, x * kLog(y)));
}

Value NextAfter(Call& c) {
  Value a = broadcast_to(convert(c.tensor(0), c.out().dtype), c.out().dims);
  return next_after(a, broadcast_to(convert(c.tensor(1), c.out().dtype), c.out().dims));
}

Value Heaviside(Call& c) {
  Value x = ResultOperand(c, 0);
  return where(x == 0.0, ResultOperand(c, 1), convert(x > 0.0, x.dtype()));
}

LOWER("aten::atan2", Atan2);
LOWER("aten::hypot", Hypot);
LOWER("aten::copysign", Copysign);
LOWER("aten::logaddexp", LogAddExp);
LOWER("aten::logaddexp2", LogAddExp2);
LOWER("aten::xlogy", XLogY<shlo::log>);
LOWER("aten::special_xlog1py", XLogY<shlo::log_plus_one>);
LOWER("aten::nextafter", NextAfter);
LOWER("aten::heaviside", Heaviside);

// --- divisors
// ------------------------------------------------------------------------------------------

// Euclid's algorithm on all elements at once, until every one has ended.
Value GreatestCommonDivisor(Value a, Value b) {
  auto magnitude = [](Value v) { return IsSigned(v.dtype()) ? abs(v) : v; };
  Value init[] = {magnitude(a), magnitude(b)};
  auto result = while_(
      init, [](auto v) { return reduce_any(v[1] != 0.0, AllDims(v[1])); },
      [](auto v) {
        Value done = v[1] == 0.0;
        Value rest = remainder(v[0], where(done, 1.0, v[1]));
        return std::vector<Value>{where(done, v[0], v[1]), where(done, 0.0, rest)};
      });
  return result[0];
}

Value Gcd(Call& c) { return GreatestCommonDivisor(ResultOperand(c, 0), ResultOperand(c, 1)); }

Value Lcm(Call& c) {
  Value a = ResultOperand(c, 0), b = ResultOperand(c, 1);
  if (DTypeSize(a.dtype()) < 4) {  // as in C: in int, narrowed once at the end
    a = convert(a, DType::kS32);
    b = convert(b, DType::kS32);
  }
  Value divisor = GreatestCommonDivisor(a, b);
  Value product = a / where(divisor == 0.0, 1.0, divisor) * b;
  return IsSigned(product.dtype()) ? abs(product) : product;
}

LOWER("aten::gcd", Gcd);
LOWER("aten::lcm", Lcm);

// _add_relu(self, other, alpha): NaN becomes 0.
Value AddRelu(Call& c) {
  Value y = ResultOperand(c, 1);
  if (!c.number_is(2, 1)) y = y * convert(c.number(2), y.dtype());
  Value sum = ResultOperand(c, 0) + y;
  return where(sum > 0.0, sum, 0.0);
}

std::vector<TensorType> AddReluShape(const Call& c) {
  const TensorType self = c.tensor(0).type();
  const Dims dims[] = {self.dims, c.tensor(1).dims()};
  if (c.tensor(1).rank() > 0 && c.tensor(1).dtype() != self.dtype)
    throw shlo::BuildError("_add_relu: expected two tensors of one dtype");
  return {{self.dtype, shlo::broadcast_dims(dims)}};
}

LOWER("aten::_add_relu", AddRelu, {.shape = AddReluShape});

}  // namespace
}  // namespace torch_tpu::ops
