// Orthogonal polynomials of degree n, elementwise: special_chebyshev_polynomial_t and relatives.
//
// All are (x, n). A negative degree gives 0, a fraction is cut off. Reference: Abramowitz and
// Stegun, Handbook of Mathematical Functions, 22.3 (values), 22.7 (recurrences).
#include <functional>
#include <limits>

#include "ops/call.h"
#include "ops/pointwise.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

using shlo::full_like;
using shlo::where;

// Value of degree k + 1 from those of degrees k (q) and k - 1 (p).
using Next = std::function<Value(Value k, Value q, Value p)>;

struct Degree {
  Value x, n;
};

Degree Operands(const Call& c) {
  Value n = ResultOperand(c, 1);
  return {ResultOperand(c, 0), where(n < 0.0, shlo::ceil(n), shlo::floor(n))};
}

Value IsEven(Value n) { return shlo::floor(n * 0.5) * 2.0 == n; }

// 0, 1 and `first` for degrees below, equal to and above 0; then step by step up to n where
// `wanted`.
Value Recurrence(Value n, Value first, Value wanted, const Next& next) {
  Value one = full_like(n, 1.0);
  Value init[] = {one, one, first};  // k, p, q
  Value q = shlo::while_(
      init, [&](auto v) { return shlo::reduce_any((v[0] < n) & wanted, AllDims(n)); },
      [&](auto v) {
        Value go = v[0] < n;
        Value r = next(v[0], v[2], v[1]);
        return std::vector<Value>{v[0] + 1.0, where(go, v[2], v[1]), where(go, r, v[2])};
      })[2];
  return where(n < 0.0, 0.0, where(n == 0.0, 1.0, q));
}

Value Recurrence(Value n, Value first, const Next& next) {
  return Recurrence(n, first, n == n, next);
}

// The Chebyshev polynomials share a recurrence. Inside of (-1, 1) large degrees have a closed form
// in the angle acos(x); at the ends the values are known.
struct Chebyshev {
  std::function<Value(Value x)> first;
  std::function<Value(Value n, Value angle)> closed;
  std::function<Value(Value n)> at_one;        // p(1)
  std::function<Value(Value n)> at_minus_one;  // |p(-1)|, whose sign is that of (-1)^n
};

Value Evaluate(const Chebyshev& kind, Value x, Value n) {
  constexpr double kLarge = 8;
  Value size = shlo::abs(x);
  Value is_closed = (n > kLarge) & (size < 1.0);
  Value at_end = size == 1.0;
  Value by_steps = Recurrence(n, kind.first(x), !(is_closed | at_end),
                              [&](Value, Value q, Value p) { return (x + x) * q - p; });
  Value minus_one = where(IsEven(n), kind.at_minus_one(n), -kind.at_minus_one(n));
  Value end = where(x > 0.0, kind.at_one(n), minus_one);
  Value known = where(n < 0.0, 0.0, where(is_closed, kind.closed(n, shlo::acos(x)), end));
  return where(is_closed | at_end, known, by_steps);
}

Value One(Value n) { return full_like(n, 1.0); }
Value TwiceAndOne(Value n) { return n + n + 1.0; }

const Chebyshev& KindT() {
  static const auto* kind = new Chebyshev{
      [](Value x) { return x; }, [](Value n, Value a) { return shlo::cosine(n * a); }, One, One};
  return *kind;
}

const Chebyshev& KindU() {
  static const auto* kind =
      new Chebyshev{[](Value x) { return x + x; },
                    [](Value n, Value a) { return shlo::sine((n + 1.0) * a) / shlo::sine(a); },
                    [](Value n) { return n + 1.0; }, [](Value n) { return n + 1.0; }};
  return *kind;
}

const Chebyshev& KindV() {
  static const auto* kind = new Chebyshev{
      [](Value x) { return x + x - 1.0; },
      [](Value n, Value a) { return shlo::cosine((n + 0.5) * a) / shlo::cosine(a * 0.5); }, One,
      TwiceAndOne};
  return *kind;
}

const Chebyshev& KindW() {
  static const auto* kind = new Chebyshev{
      [](Value x) { return x + x + 1.0; },
      [](Value n, Value a) { return shlo::sine((n + 0.5) * a) / shlo::sine(a * 0.5); }, TwiceAndOne,
      One};
  return *kind;
}

template <const Chebyshev& (*Kind)()>
Value Plain(Call& c) {
  const auto [x, n] = Operands(c);
  return Evaluate(Kind(), x, n);
}

// On [0, 1] instead of [-1, 1].
template <const Chebyshev& (*Kind)()>
Value Shifted(Call& c) {
  const auto [x, n] = Operands(c);
  return Evaluate(Kind(), x + x - 1.0, n);
}

// PyTorch gives NaN where the values have long left the range of the dtype.
Value HermiteLimit(Value n, Value result) {
  const double limit = result.dtype() == DType::kF64 ? 512 : 128;
  return where(n > limit, std::numeric_limits<double>::quiet_NaN(), result);
}

Value HermiteH(Call& c) {
  const auto [x, n] = Operands(c);
  return HermiteLimit(n, Recurrence(n, x + x, [&](Value k, Value q, Value p) {
                        return (x + x) * q - (k + k) * p;
                      }));
}

Value HermiteHe(Call& c) {
  const auto [x, n] = Operands(c);
  return HermiteLimit(n,
                      Recurrence(n, x, [&](Value k, Value q, Value p) { return x * q - k * p; }));
}

Value Laguerre(Call& c) {
  const auto [x, n] = Operands(c);
  return Recurrence(n, 1.0 - x, [&](Value k, Value q, Value p) {
    return ((k + k + (1.0 - x)) * q - k * p) / (k + 1.0);
  });
}

Value Legendre(Call& c) {
  const auto [x, n] = Operands(c);
  Value result = Recurrence(
      n, x, [&](Value k, Value q, Value p) { return ((k + k + 1.0) * x * q - k * p) / (k + 1.0); });
  return result;
}

LOWER("aten::special_chebyshev_polynomial_t", Plain<KindT>);
LOWER("aten::special_chebyshev_polynomial_u", Plain<KindU>);
LOWER("aten::special_chebyshev_polynomial_v", Plain<KindV>);
LOWER("aten::special_chebyshev_polynomial_w", Plain<KindW>);
LOWER("aten::special_shifted_chebyshev_polynomial_t", Shifted<KindT>);
LOWER("aten::special_shifted_chebyshev_polynomial_u", Shifted<KindU>);
LOWER("aten::special_shifted_chebyshev_polynomial_v", Shifted<KindV>);
LOWER("aten::special_shifted_chebyshev_polynomial_w", Shifted<KindW>);
LOWER("aten::special_hermite_polynomial_h", HermiteH);
LOWER("aten::special_hermite_polynomial_he", HermiteHe);
LOWER("aten::special_laguerre_polynomial_l", Laguerre);
LOWER("aten::special_legendre_polynomial_p", Legendre);

}  // namespace
}  // namespace torch_tpu::ops
