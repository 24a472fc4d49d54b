// Linear algebra with triangular factors: Cholesky and triangular solves; and the cross product.
#include "ops/linalg_lu.h"
#include "ops/norm.h"

namespace torch_tpu::ops {
namespace {

bool Empty(Value x) { return NumElements(x.dims()) == 0; }

// `matrix` with its batch dims broadcast to those of `dims`.
Value WithBatchOf(Value matrix, const Dims& dims) {
  Dims target = BatchDims(dims, 2);
  target.push_back(matrix.dim(-2));
  target.push_back(matrix.dim(-1));
  return shlo::broadcast_to(matrix, target);
}

// The Hermitian matrix of which one triangle of `a` is given.
Value Hermitian(Value a, bool lower) {
  Value mirrored = Conjugate(shlo::swap_dims(a, -2, -1));
  Value row = shlo::index_like(a, a.rank() - 2, DType::kS32);
  Value column = shlo::index_like(a, a.rank() - 1, DType::kS32);
  return shlo::select(lower ? column <= row : column >= row, a, mirrored);
}

// 1-based number of the first leading minor of a[b, n, n] that is not positive, 0 when there is
// none: s32[b]. The pivots of elimination without exchanges are quotients of consecutive minors.
Value FirstBadMinor(Value a) {
  Value lu = FactorLu(a, false).lu;
  Value row = shlo::index_like(a, 1, DType::kS32), column = shlo::index_like(a, 2, DType::kS32);
  Value pivot = IsComplex(a.dtype()) ? shlo::real(lu) : lu;
  Value good = pivot > 0.0;
  Value none = shlo::max_value(a.builder(), DType::kS32);
  Value bad = shlo::where((row == column) & !good, row, none);
  Value first = shlo::reduce_min(bad, {1, 2});
  return shlo::where(first == none, 0.0, first + 1.0);
}

// self, upper, check_errors -> L, info. Only the triangle that is asked for is read. The plugin
// marks failure with NaN; which minor it was is found out only then.
Results CholeskyEx(Call& c) {
  Value a = c.tensor(0);
  const bool lower = !c.boolean(1);
  const auto zeros = [&] { return shlo::constant(c.builder(), 0, {DType::kS32, c.out(1).dims}); };
  if (Empty(a)) return {a, zeros()};
  Value factor = Triangle(shlo::cholesky(a, lower), lower);
  Value failed = shlo::reduce_any(shlo::is_nan(factor), DimRange(0, a.rank()));
  Value info = shlo::if_(
      failed,
      [&] {
        Value minor = FirstBadMinor(MergeBatch(Hermitian(a, lower), 2));
        return std::vector<Value>{shlo::reshape(minor, c.out(1).dims)};
      },
      [&] { return std::vector<Value>{zeros()}; })[0];
  return {factor, info};
}

// A, B, upper, left, unitriangular
Value SolveTriangular(Call& c) {
  const Dims& out = c.out().dims;
  Value a = WithBatchOf(c.tensor(0), out), b = shlo::broadcast_to(c.tensor(1), out);
  if (Empty(b)) return b;
  return shlo::triangular_solve(a, b, c.boolean(3), !c.boolean(2), c.boolean(4), false);
}

// B, A, upper, transpose, unitriangular -> solution, copy of A
Results TriangularSolve(Call& c) {
  const Dims& out = c.out().dims;
  Value a = WithBatchOf(c.tensor(1), out), b = shlo::broadcast_to(c.tensor(0), out);
  if (Empty(b)) return {b, a};
  return {shlo::triangular_solve(a, b, true, !c.boolean(2), c.boolean(4), c.boolean(3)), a};
}

// x with (L L^H) x = b, or (U^H U) x = b.
Value SolveCholesky(Value factor, Value b, bool upper) {
  if (Empty(b)) return b;
  Value y = shlo::triangular_solve(factor, b, true, !upper, false, upper, upper);
  return shlo::triangular_solve(factor, y, true, !upper, false, !upper, !upper);
}

// B, factor, upper
Value CholeskySolve(Call& c) {
  const Dims& out = c.out().dims;
  return SolveCholesky(WithBatchOf(c.tensor(1), out), shlo::broadcast_to(c.tensor(0), out),
                       c.boolean(2));
}

// factor, upper
Value CholeskyInverse(Call& c) {
  return SolveCholesky(c.tensor(0), IdentityLike(c.tensor(0)), c.boolean(1));
}

// self, other, dim
Value Cross(Call& c) {
  Value a = shlo::broadcast_to(c.tensor(0), c.out().dims);
  Value b = shlo::broadcast_to(c.tensor(1), c.out().dims);
  if (Empty(a)) return a;
  const int64_t dim = shlo::wrap_dim(c.integer(2), a.rank());
  const auto part = [&](Value v, int64_t i) { return shlo::slice_dim(v, dim, i % 3, i % 3 + 1); };
  std::vector<Value> parts;
  for (int64_t i = 0; i < 3; ++i) {
    parts.push_back(part(a, i + 1) * part(b, i + 2) - part(a, i + 2) * part(b, i + 1));
  }
  return shlo::concatenate(parts, dim);
}

LOWER("aten::linalg_cholesky_ex", CholeskyEx);
LOWER("aten::linalg_solve_triangular", SolveTriangular);
LOWER("aten::triangular_solve", TriangularSolve);
LOWER("aten::_cholesky_solve_helper", CholeskySolve);
LOWER("aten::cholesky_inverse", CholeskyInverse);
LOWER("aten::linalg_cross", Cross);

}  // namespace
}  // namespace torch_tpu::ops
