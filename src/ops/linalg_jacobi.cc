// Parallel one-sided Jacobi: rows are turned in pairs until all are orthogonal.
//
// The rows are kept as two halves, and row i of one is paired with row i of the other. Between two
// rounds all rows but the first move on by one place around the two halves, as players do in a
// tournament: after 2 h - 1 rounds each has met each, and all are back where they began.
#include "ops/linalg_jacobi.h"

#include <algorithm>
#include <cmath>

#include "ops/linalg_lu.h"

namespace torch_tpu::ops {
namespace {

using State = std::span<const Value>;

constexpr int kMaximumSweeps = 40;  // quadratic convergence needs 6 to 12

double Epsilon(DType dtype) { return RealType(dtype) == DType::kF64 ? 0x1p-52 : 0x1p-23; }

Value Spread(Value v, const Dims& dims) { return shlo::broadcast_to(v, dims); }

// Squares summed along the rows: real, [b, h, 1].
Value SquaredNorm(Value x) {
  if (!IsComplex(x.dtype())) return shlo::reduce_sum(x * x, {2}, true);
  Value re = shlo::real(x), im = shlo::imag(x);
  return shlo::reduce_sum(re * re + im * im, {2}, true);
}

struct Turned {
  Value top, bottom;
  Value cosine;  // the largest |cosine| of the angles between paired rows, before turning: rank 0
};

// Turns row i of `top` and of `bottom` in their plane so that they become orthogonal. Only the
// first m columns are measured; all are turned.
Turned TurnPairs(Value top, Value bottom, int64_t m) {
  const DType dtype = top.dtype();
  Value x = shlo::slice_dim(top, 2, 0, m), y = shlo::slice_dim(bottom, 2, 0, m);
  Value product = shlo::reduce_sum(Conjugate(x) * y, {2}, true);
  Value xx = SquaredNorm(x), yy = SquaredNorm(y), size = shlo::abs(product);
  Value lengths = shlo::sqrt(xx) * shlo::sqrt(yy);
  Value turn = size > lengths * Epsilon(dtype);
  Value divisor = shlo::where(turn, size, 1.0);
  Value cosine = shlo::where(turn, size / lengths, 0.0);
  Value zeta = (yy - xx) / (2.0 * divisor);
  Value root = shlo::abs(zeta) + shlo::sqrt(1.0 + zeta * zeta);
  Value tangent = shlo::where(zeta < 0.0, -1.0, shlo::full_like(zeta, 1.0)) / root;
  tangent = shlo::where(turn, tangent, 0.0);
  Value secant = shlo::sqrt(1.0 + tangent * tangent);
  Value phase = shlo::where(turn, product / shlo::convert(divisor, dtype), 1.0);
  // Both rows change by a small multiple of each other, the cosine being 1 - sine * half: written
  // as cosine times row, hundreds of turns would stretch the rows by the cosine's rounding.
  const auto wide = [&](Value v) { return Spread(shlo::convert(v, dtype), top.dims()); };
  Value sine = wide(tangent / secant), half = wide(tangent / (1.0 + secant));
  return {top - sine * (wide(Conjugate(phase)) * bottom + half * top),
          bottom + sine * (wide(phase) * top - half * bottom), shlo::reduce_max(cosine, {0, 1, 2})};
}

// The next round of the tournament.
std::pair<Value, Value> MoveOn(Value top, Value bottom) {
  const int64_t h = top.dim(1);
  if (h == 1) return {top, bottom};
  const auto part = [](Value v, int64_t from, int64_t to) {
    return shlo::slice_dim(v, 1, from, to);
  };
  std::vector<Value> above = {part(top, 0, 1), part(bottom, 0, 1)};
  if (h > 2) above.push_back(part(top, 1, h - 1));
  const std::vector<Value> below = {part(bottom, 1, h), part(top, h - 1, h)};
  return {shlo::concatenate(above, 1), shlo::concatenate(below, 1)};
}

// All pairs once: top, bottom and the largest cosine met.
std::vector<Value> Sweep(Value top, Value bottom, int64_t m) {
  Builder& b = top.builder();
  const auto rounds = static_cast<double>(2 * top.dim(1) - 1);
  const Value init[] = {shlo::scalar(b, int64_t{0}, DType::kS32), top, bottom,
                        shlo::scalar(b, 0.0, RealType(top.dtype()))};
  auto result = shlo::while_(
      init, [&](State s) { return s[0] < rounds; },
      [&](State s) {
        const Turned t = TurnPairs(s[1], s[2], m);
        auto [above, below] = MoveOn(t.top, t.bottom);
        return std::vector<Value>{s[0] + 1.0, above, below, shlo::max(s[3], t.cosine)};
      });
  return {result[1], result[2], result[3]};
}

}  // namespace

OrthogonalRows Orthogonalise(Value x, bool with_rotation) {
  Builder& b = x.builder();
  const int64_t batch = x.dim(0), n = x.dim(1), m = x.dim(2);
  if (NumElements(x.dims()) == 0) {
    OrthogonalRows none{x, std::nullopt};
    if (with_rotation)
      none.rotation = IdentityLike(shlo::constant(b, 0, {x.dtype(), {batch, n, n}}));
    return none;
  }
  Value rows = x;
  if (with_rotation) {
    const Value both[] = {x, IdentityLike(shlo::constant(b, 0, {x.dtype(), {batch, n, n}}))};
    rows = shlo::concatenate(both, 2);
  }
  // A row of zeros makes their number even; it is orthogonal to all and stays last.
  if (n % 2 != 0) {
    rows = shlo::pad(rows, shlo::scalar(b, 0.0, x.dtype()), {0, 0, 0}, {0, 1, 0}, {0, 0, 0});
  }
  const int64_t half = rows.dim(1) / 2;
  // Sums of m products are no more exact than this. What is smaller is still turned, but does not
  // ask for another sweep.
  const double tolerance =
      Epsilon(x.dtype()) * std::sqrt(static_cast<double>(std::max<int64_t>(m, 4)));
  const Value init[] = {shlo::scalar(b, int64_t{0}, DType::kS32), shlo::slice_dim(rows, 1, 0, half),
                        shlo::slice_dim(rows, 1, half, 2 * half),
                        shlo::scalar(b, 1.0, RealType(x.dtype()))};
  auto result = shlo::while_(
      init,
      [&](State s) { return (s[0] < static_cast<double>(kMaximumSweeps)) & (s[3] > tolerance); },
      [&](State s) {
        std::vector<Value> next = Sweep(s[1], s[2], m);
        next.insert(next.begin(), s[0] + 1.0);
        return next;
      });
  const Value halves[] = {result[1], result[2]};
  rows = shlo::slice_dim(shlo::concatenate(halves, 1), 1, 0, n);
  if (!with_rotation) return {rows, std::nullopt};
  return {shlo::slice_dim(rows, 2, 0, m), shlo::slice_dim(rows, 2, m, m + n)};
}

Value SortOrder(Value key, bool descending) {
  const Value both[] = {key, shlo::index_like(key, 1, DType::kS32)};
  return shlo::sort(both, 1, [&](State v) { return descending ? v[0] > v[1] : v[0] < v[1]; })[1];
}

Value SafeScale(Value a) {
  const double large = RealType(a.dtype()) == DType::kF64 ? 0x1p200 : 0x1p20;
  Value largest = shlo::reduce_max(shlo::abs(a), {1, 2}, true);
  Value safe = (largest < large) & (largest > 1.0 / large);
  return shlo::where(safe | (largest == 0.0), 1.0, largest);
}

}  // namespace torch_tpu::ops
