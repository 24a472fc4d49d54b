// Householder reflections: QR factorisation and what is made of its factors.
#include "ops/linalg_qr.h"

#include <algorithm>

#include "ops/linalg_lu.h"

namespace torch_tpu::ops {
namespace {

using State = std::span<const Value>;

Value Spread(Value v, const Dims& dims) { return shlo::broadcast_to(v, dims); }

Value RealPart(Value x) { return IsComplex(x.dtype()) ? shlo::real(x) : x; }

// v^H a, of dims [b, 1, n], for v[b, m, 1] and a[b, m, n].
Value ColumnProduct(Value v, Value a) {
  return shlo::dot_general(Conjugate(v), a, {{0}, {0}, {1}, {1}}, shlo::Precision::kHighest);
}

// The 2-norm [b, 1, 1] of x[b, m, 1]; squares of scaled entries neither overflow nor vanish.
Value ColumnNorm(Value x) {
  Value size = shlo::abs(x);
  Value largest = shlo::reduce_max(size, {1}, true);
  Value scale = shlo::where(largest == 0.0, 1.0, largest);
  Value scaled = size / Spread(scale, size.dims());
  return scale * shlo::sqrt(shlo::reduce_sum(scaled * scaled, {1}, true));
}

// The reflection that makes column[b, m, 1] zero below row k.
struct Reflection {
  Value v;     // [b, m, 1]
  Value tau;   // [b, 1, 1]
  Value beta;  // [b, 1, 1]: what row k becomes
};

Reflection Reflect(Value column, Value k) {
  const DType dtype = column.dtype();
  Value rows = shlo::index_like(column, 1, DType::kS32);
  Value alpha = SliceAt(column, 1, k);
  Value below = shlo::where(rows > k, column, 0.0);
  Value norm = ColumnNorm(shlo::where(rows >= k, column, 0.0));
  Value real = RealPart(alpha);
  Value beta = shlo::where(real < 0.0, norm, -norm);
  // A column that is zero already, with a real head, is left alone: H = I.
  Value trivial = shlo::reduce_max(shlo::abs(below), {1}, true) == 0.0;
  if (IsComplex(dtype)) trivial = trivial & (shlo::imag(alpha) == 0.0);
  Value divisor = shlo::where(trivial, 1.0, beta);
  Value tau = (beta - real) / divisor;
  if (IsComplex(dtype)) tau = shlo::complex(tau, -shlo::imag(alpha) / divisor);
  Value head = shlo::where(trivial, 1.0, alpha - shlo::convert(beta, dtype));
  Value v = shlo::where(rows == k, 1.0, below / Spread(head, below.dims()));
  return {v, shlo::where(trivial, 0.0, tau),
          shlo::where(trivial, alpha, shlo::convert(beta, dtype))};
}

// Reflection k is worked out from column k, applied to the columns after it and stored.
std::pair<Value, Value> FactorColumn(Value a, Value tau, Value k) {
  const Reflection h = Reflect(SliceAt(a, 2, k), k);
  const Dims& dims = a.dims();
  Value rows = shlo::index_like(a, 1, DType::kS32), columns = shlo::index_like(a, 2, DType::kS32);
  Value product = ColumnProduct(h.v, a);
  Value row = product * Spread(Conjugate(h.tau), product.dims());
  Value v = Spread(h.v, dims);
  Value reflected = a - v * Spread(row, dims);
  Value stored = shlo::where(rows == k, Spread(h.beta, dims), shlo::where(rows > k, v, a));
  Value zero = shlo::scalar(a.builder(), int64_t{0}, DType::kS32);
  tau = shlo::dynamic_update_slice(tau, shlo::reshape(h.tau, {a.dim(0), 1}),
                                   std::vector<Value>{zero, k});
  a = shlo::where(columns > k, reflected, shlo::where(columns == k, stored, a));
  return {a, tau};
}

}  // namespace

QrFactors FactorQr(Value a) {
  Builder& b = a.builder();
  const int64_t batch = a.dim(0), count = std::min(a.dim(1), a.dim(2));
  Value tau = shlo::constant(b, 0, {a.dtype(), {batch, count}});
  if (batch == 0 || count == 0) return {a, tau};
  const Value init[] = {shlo::scalar(b, int64_t{0}, DType::kS32), a, tau};
  auto result = shlo::while_(
      init, [&](State s) { return s[0] < static_cast<double>(count); },
      [&](State s) {
        auto [packed, tau] = FactorColumn(s[1], s[2], s[0]);
        return std::vector<Value>{s[0] + 1.0, packed, tau};
      });
  return {result[1], result[2]};
}

Value ApplyReflections(Value packed, Value tau, Value c, bool adjoint) {
  Builder& b = c.builder();
  const int64_t batch = c.dim(0), count = tau.dim(1);
  if (count == 0 || NumElements(c.dims()) == 0) return c;
  if (adjoint) tau = Conjugate(tau);
  tau = shlo::reshape(tau, {batch, 1, count});
  const Value init[] = {shlo::scalar(b, int64_t{0}, DType::kS32), c};
  auto result = shlo::while_(
      init, [&](State s) { return s[0] < static_cast<double>(count); },
      [&](State s) {
        Value i = adjoint ? s[0] : static_cast<double>(count - 1) - s[0];
        Value column = SliceAt(packed, 2, i);
        Value rows = shlo::index_like(column, 1, DType::kS32);
        Value v = shlo::where(rows == i, 1.0, shlo::where(rows > i, column, 0.0));
        Value product = ColumnProduct(v, s[1]);
        Value row = product * Spread(SliceAt(tau, 2, i), product.dims());
        Value next = s[1] - Spread(v, c.dims()) * Spread(row, c.dims());
        return std::vector<Value>{s[0] + 1.0, next};
      });
  return result[1];
}

Value OrthogonalFactor(Value packed, Value tau, int64_t columns) {
  const TensorType type{packed.dtype(), {packed.dim(0), packed.dim(1), columns}};
  Value like = shlo::constant(packed.builder(), 0, type);
  return ApplyReflections(packed, tau, IdentityLike(like), false);
}

namespace {

// A -> a, tau; PyTorch has no Meta kernel for it.
std::vector<TensorType> GeqrfShape(const Call& c) {
  const TensorType& a = c.tensor(0).type();
  if (a.dims.size() < 2)
    throw shlo::BuildError("torch.geqrf: input must have at least 2 dimensions.");
  Dims tau = BatchDims(a.dims, 2);
  tau.push_back(std::min(a.dims[a.dims.size() - 2], a.dims.back()));
  return {a, {a.dtype, tau}};
}

Results Geqrf(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  const QrFactors f = FactorQr(MergeBatch(c.tensor(0), 2));
  return {SplitBatch(f.packed, batch), SplitBatch(f.tau, batch)};
}

// A, mode -> Q, R; Q is empty when mode is "r"
Results Qr(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  const std::string mode = c.string(1);
  Value a = MergeBatch(c.tensor(0), 2);
  const QrFactors f = FactorQr(a);
  const int64_t m = a.dim(1), k = mode == "complete" ? m : std::min(m, a.dim(2));
  Value r = SplitBatch(Triangle(shlo::slice_dim(f.packed, 1, 0, k), false), batch);
  if (mode == "r") return {shlo::constant(c.builder(), 0, c.out(0)), r};
  return {SplitBatch(OrthogonalFactor(f.packed, f.tau, k), batch), r};
}

// input, tau
Value HouseholderProduct(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  Value packed = MergeBatch(c.tensor(0), 2);
  return SplitBatch(OrthogonalFactor(packed, MergeBatch(c.tensor(1), 1), packed.dim(2)), batch);
}

// self, tau, other, left, transpose
Value Ormqr(Call& c) {
  Value other = c.tensor(2);
  const Dims batch = BatchDims(other.dims(), 2);
  Value packed = MergeBatch(c.tensor(0), 2), tau = MergeBatch(c.tensor(1), 1);
  Value x = MergeBatch(other, 2);
  const bool left = c.boolean(3), adjoint = c.boolean(4);
  if (left) return SplitBatch(ApplyReflections(packed, tau, x, adjoint), batch);
  return SplitBatch(Adjoint(ApplyReflections(packed, tau, Adjoint(x), !adjoint)), batch);
}

LOWER("aten::geqrf", Geqrf, {.shape = GeqrfShape});
LOWER("aten::linalg_qr", Qr);
LOWER("aten::linalg_householder_product", HouseholderProduct);
LOWER("aten::ormqr", Ormqr);

}  // namespace
}  // namespace torch_tpu::ops
