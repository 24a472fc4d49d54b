// Eigenvalues of Hermitian matrices and singular values, both by Jacobi's method on rows.
#include <algorithm>

#include "ops/linalg_jacobi.h"
#include "ops/linalg_lu.h"
#include "ops/linalg_qr.h"

namespace torch_tpu::ops {
namespace {

Value Nothing(const Call& c, int k) { return shlo::constant(c.builder(), 0, c.out(k)); }

// CPU raises for these; here debug mode does, elsewhere they give NaN.
void CheckFinite(Call& c, Value a, const char* name) {
  Value finite = IsComplex(a.dtype())
                     ? shlo::is_finite(shlo::real(a)) & shlo::is_finite(shlo::imag(a))
                     : shlo::is_finite(a);
  c.check(shlo::reduce_all(finite, {0, 1, 2}),
          std::string(name) +
              ": The algorithm failed to converge because the input matrix contained non-finite "
              "values.");
}

Value SquaredSize(Value x) {
  if (!IsComplex(x.dtype())) return x * x;
  Value re = shlo::real(x), im = shlo::imag(x);
  return re * re + im * im;
}

// Lengths of the rows: real, [b, n].
Value RowLengths(Value rows) { return shlo::sqrt(shlo::reduce_sum(SquaredSize(rows), {2})); }

// v[b, n] or [b, 1, 1] as factors of rows of `like`[b, n, m], in its dtype.
Value AlongRows(Value v, Value like) {
  if (v.rank() == 2) v = shlo::unsqueeze(v, -1);
  return shlo::broadcast_to(shlo::convert(v, like.dtype()), like.dims());
}

// The Hermitian matrix of which one triangle is given; imaginary parts on the diagonal are not
// read.
Value FromTriangle(Value a, bool lower) {
  Value kept = Triangle(a, lower, lower ? -1 : 1);
  Value row = shlo::index_like(a, 1, DType::kS32), column = shlo::index_like(a, 2, DType::kS32);
  Value diagonal = shlo::where(row == column, a, 0.0);
  if (IsComplex(a.dtype())) diagonal = shlo::convert(shlo::real(diagonal), a.dtype());
  return kept + Adjoint(kept) + diagonal;
}

// At least the largest |eigenvalue| of a Hermitian a, at most n^(1/8) times as much: [b, 1, 1].
Value SpectralBound(Value a) {
  Value square = FullProduct(a, a);
  Value fourth = FullProduct(square, square);
  Value norm = shlo::sqrt(shlo::reduce_sum(SquaredSize(fourth), {1, 2}, true));
  return shlo::sqrt(shlo::sqrt(norm));
}

// A, UPLO, compute_v -> eigenvalues, eigenvectors
//
// A + c I with c well above every |eigenvalue| is positive and well conditioned, so that its rows,
// once turned orthogonal, are its eigenvectors. Rayleigh quotients with A itself then undo what the
// shift took from the eigenvalues.
Results Eigh(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  Value a = MergeBatch(c.tensor(0), 2);
  if (NumElements(a.dims()) == 0) return {Nothing(c, 0), Nothing(c, 1)};
  CheckFinite(c, a, "linalg.eigh");
  const std::string uplo = c.string(1);
  a = FromTriangle(a, uplo == "L" || uplo == "l");
  Value scale = SafeScale(a);
  Value scaled = a / AlongRows(scale, a);
  Value bound = SpectralBound(scaled);
  Value shift = 1.5 * shlo::where(bound == 0.0, 1.0, bound);
  Value rows =
      Orthogonalise(scaled + AlongRows(shift, a) * IdentityLike(a), /*with_rotation=*/false).rows;
  rows = rows / AlongRows(RowLengths(rows), rows);
  Value quotient = FullProduct(rows, scaled) * Conjugate(rows);
  if (IsComplex(quotient.dtype())) quotient = shlo::real(quotient);
  Value values = shlo::reduce_sum(quotient, {2});
  Value order = SortOrder(values, false);
  values = shlo::squeeze(PermuteRows(shlo::unsqueeze(values, -1), order, false), -1);
  values = values * shlo::broadcast_to(shlo::squeeze(scale, -1), values.dims());
  if (!c.boolean(2)) return {SplitBatch(values, batch), Nothing(c, 1)};
  return {SplitBatch(values, batch), SplitBatch(Adjoint(PermuteRows(rows, order, false)), batch)};
}

struct Svd {
  Value u, s, vh;  // u and vh are empty Values unless vectors were asked for
};

// a[b, m, n] with m >= n > 0. `columns`: of u.
//
// a = Q R, and the rows of R are turned orthogonal: V R = W. Sorted by length they are W = S Z, so
// that a = (Q V^H) S Z. Z comes from a QR factorisation of W^H and not from dividing by S: its rows
// are orthonormal also where singular values are 0.
Svd TallSvd(Value a, int64_t columns, bool vectors) {
  const int64_t m = a.dim(1), n = a.dim(2);
  Value scale = SafeScale(a);
  const QrFactors qr = FactorQr(a / AlongRows(scale, a));
  Value r = Triangle(shlo::slice_dim(qr.packed, 1, 0, n), false);
  const OrthogonalRows turned = Orthogonalise(r, vectors);
  Value lengths = RowLengths(turned.rows);
  Value order = SortOrder(lengths, true);
  Value s = shlo::squeeze(PermuteRows(shlo::unsqueeze(lengths, -1), order, false), -1);
  s = s * shlo::broadcast_to(shlo::squeeze(scale, -1), s.dims());
  if (!vectors) return {{}, s, {}};
  const QrFactors w = FactorQr(Adjoint(PermuteRows(turned.rows, order, false)));
  Value diagonal = shlo::reduce_sum(IdentityLike(w.packed) * w.packed, {2});
  if (IsComplex(a.dtype())) diagonal = shlo::real(diagonal);
  Value sign = shlo::where(diagonal < 0.0, -1.0, shlo::full_like(diagonal, 1.0));
  Value z = Adjoint(OrthogonalFactor(w.packed, w.tau, n));
  z = z * AlongRows(sign, z);
  Value inner = Adjoint(PermuteRows(*turned.rotation, order, false));
  if (columns > n || m > n) {
    Value zero = shlo::scalar(a.builder(), 0.0, a.dtype());
    inner = shlo::pad(inner, zero, {0, 0, 0}, {0, m - n, columns - n}, {0, 0, 0});
    Value row = shlo::index_like(inner, 1, DType::kS32);
    inner = shlo::where((IdentityLike(inner) != 0.0) & (row >= static_cast<double>(n)), 1.0, inner);
  }
  return {ApplyReflections(qr.packed, qr.tau, inner, false), s, z};
}

// A, full_matrices, compute_uv, driver -> U, S, Vh
Results SvdOf(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  Value a = MergeBatch(c.tensor(0), 2);
  const bool full = c.boolean(1), vectors = c.boolean(2);
  if (NumElements(a.dims()) == 0) {
    if (!vectors) return {Nothing(c, 0), Nothing(c, 1), Nothing(c, 2)};
    return {IdentityLike(Nothing(c, 0)), Nothing(c, 1), IdentityLike(Nothing(c, 2))};
  }
  CheckFinite(c, a, "linalg.svd");
  const int64_t m = a.dim(1), n = a.dim(2), k = std::min(m, n);
  const bool tall = m >= n;
  const Svd f = TallSvd(tall ? a : Adjoint(a), full ? std::max(m, n) : k, vectors);
  if (!vectors) return {Nothing(c, 0), SplitBatch(f.s, batch), Nothing(c, 2)};
  return {SplitBatch(tall ? f.u : Adjoint(f.vh), batch), SplitBatch(f.s, batch),
          SplitBatch(tall ? f.vh : Adjoint(f.u), batch)};
}

LOWER("aten::_linalg_eigh", Eigh);
LOWER("aten::_linalg_svd", SvdOf);

}  // namespace
}  // namespace torch_tpu::ops
