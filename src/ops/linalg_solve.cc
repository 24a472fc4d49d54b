// What is built on the LU factorisation: the factors themselves, solving, inverse, determinant.
#include "ops/linalg_lu.h"
#include "ops/norm.h"

namespace torch_tpu::ops {
namespace {

// P with A = P L U, of dims [b, m, m].
Value PermutationMatrix(Value permutation, DType dtype) {
  const int64_t batch = permutation.dim(0), m = permutation.dim(1);
  Value to = shlo::broadcast_to(shlo::unsqueeze(permutation, 1), {batch, m, m});
  return shlo::convert(shlo::index_like(to, 1, DType::kS32) == to, dtype);
}

// L [b, m, k] and U [b, k, n] of packed factors.
Value LowerFactor(Value lu) {
  const int64_t k = std::min(lu.dim(1), lu.dim(2));
  Value l = Triangle(shlo::slice_dim(lu, 2, 0, k), true, -1);
  return l + IdentityLike(l);
}
Value UpperFactor(Value lu) {
  return Triangle(shlo::slice_dim(lu, 1, 0, std::min(lu.dim(1), lu.dim(2))), false);
}

Value Nothing(const Call& c, int k) { return shlo::constant(c.builder(), 0, c.out(k)); }

// A, pivot, check_errors -> LU, pivots, info
Results LuFactorEx(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  const LuFactors f = FactorLu(MergeBatch(c.tensor(0), 2), c.boolean(1));
  return {SplitBatch(f.lu, batch), SplitBatch(f.pivots, batch), SplitBatch(f.info, batch)};
}

// A, pivot -> P, L, U; P is empty without pivoting
Results Lu(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  const bool pivot = c.boolean(1);
  const LuFactors f = FactorLu(MergeBatch(c.tensor(0), 2), pivot);
  return {pivot ? SplitBatch(PermutationMatrix(f.permutation, f.lu.dtype()), batch) : Nothing(c, 0),
          SplitBatch(LowerFactor(f.lu), batch), SplitBatch(UpperFactor(f.lu), batch)};
}

// LU, pivots, unpack_data, unpack_pivots -> P, L, U
Results LuUnpack(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  Value lu = MergeBatch(c.tensor(0), 2), pivots = MergeBatch(c.tensor(1), 1);
  Results results;
  if (c.boolean(3)) {
    Value p = PermutationMatrix(PermutationOf(pivots, lu.dim(1)), lu.dtype());
    results.push_back(SplitBatch(p, batch));
  } else {
    results.push_back(Nothing(c, 0));
  }
  const bool data = c.boolean(2);
  results.push_back(data ? SplitBatch(LowerFactor(lu), batch) : Nothing(c, 1));
  results.push_back(data ? SplitBatch(UpperFactor(lu), batch) : Nothing(c, 2));
  return results;
}

// Factors, a permutation and a right-hand side whose batches broadcast to that of the solution x:
// op(A) x = rhs, or x op(A) = rhs when not `left`.
Value SolveBroadcast(Value lu, Value permutation, Value rhs, bool left, bool adjoint) {
  const Dims lu_batch = BatchDims(lu.dims(), 2), rhs_batch = BatchDims(rhs.dims(), 2);
  const Dims both[] = {lu_batch, rhs_batch};
  const Dims batch = shlo::broadcast_dims(both);
  const auto spread = [&](Value v, int64_t rank) {
    Dims dims = batch;
    dims.insert(dims.end(), v.dims().end() - rank, v.dims().end());
    return MergeBatch(shlo::broadcast_to(v, dims), rank);
  };
  lu = spread(lu, 2);
  permutation = spread(permutation, 1);
  rhs = spread(rhs, 2);
  if (left) return SplitBatch(SolveLu(lu, permutation, rhs, adjoint), batch);
  return SplitBatch(Adjoint(SolveLu(lu, permutation, Adjoint(rhs), !adjoint)), batch);
}

// LU, pivots, B, left, adjoint
Value LuSolve(Call& c) {
  Value lu = c.tensor(0);
  Value order = PermutationOf(MergeBatch(c.tensor(1), 1), lu.dim(-2));
  return SolveBroadcast(lu, SplitBatch(order, BatchDims(lu.dims(), 2)), c.tensor(2), c.boolean(3),
                        c.boolean(4));
}

// A, check_errors -> inverse, info
Results InverseEx(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  Value a = MergeBatch(c.tensor(0), 2);
  const LuFactors f = FactorLu(a, true);
  return {SplitBatch(SolveLu(f.lu, f.permutation, IdentityLike(a), false), batch),
          SplitBatch(f.info, batch)};
}

// A, B, left, check_errors -> result, LU, pivots, info
Results SolveEx(Call& c) {
  Value a = c.tensor(0), b = c.tensor(1);
  const Dims batch = BatchDims(a.dims(), 2);
  Dims row = a.dims();
  row.pop_back();
  const bool vector = b.rank() == 1 || b.dims() == row;
  if (vector) b = shlo::unsqueeze(b, -1);
  const LuFactors f = FactorLu(MergeBatch(a, 2), true);
  Value lu = SplitBatch(f.lu, batch);
  Value x = SolveBroadcast(lu, SplitBatch(f.permutation, batch), b, c.boolean(2), false);
  if (vector) x = shlo::squeeze(x, -1);
  return {x, lu, SplitBatch(f.pivots, batch), SplitBatch(f.info, batch)};
}

// Determinants factor the transpose of a contiguous real A, and their gradient formulas look at A's
// layout to tell which of the two was factored.
LuFactors FactorForDeterminant(const Call& c) {
  Value a = MergeBatch(c.tensor(0), 2);
  const bool transposed = c.contiguous(0) && !IsComplex(a.dtype());
  return FactorLu(transposed ? shlo::swap_dims(a, 1, 2) : a, true);
}

// Diagonal of U: [b, n].
Value Diagonal(Value lu) {
  return shlo::reduce_sum(shlo::where(IdentityLike(lu) != 0.0, lu, 0.0), {2});
}

// 1 or -1 a matrix: whether the number of row exchanges is even.
Value ExchangeSign(Value pivots, DType dtype) {
  Value place = shlo::index_like(pivots, 1, DType::kS32) + 1.0;
  Value factor = shlo::where(pivots == place, shlo::full_like(pivots, 1), -1.0);
  return shlo::convert(shlo::reduce_prod(factor, {1}), dtype);
}

// A -> det, LU, pivots
Results Determinant(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  const LuFactors f = FactorForDeterminant(c);
  Value det = shlo::reduce_prod(Diagonal(f.lu), {1}) * ExchangeSign(f.pivots, f.lu.dtype());
  return {SplitBatch(det, batch), SplitBatch(f.lu, batch), SplitBatch(f.pivots, batch)};
}

// A -> sign, logabsdet, LU, pivots
Results SignedLogDeterminant(Call& c) {
  const Dims batch = BatchDims(c.tensor(0).dims(), 2);
  const LuFactors f = FactorForDeterminant(c);
  Value diagonal = Diagonal(f.lu);
  Value sign = shlo::reduce_prod(shlo::sign(diagonal), {1}) * ExchangeSign(f.pivots, f.lu.dtype());
  Value log = shlo::reduce_sum(shlo::log(shlo::abs(diagonal)), {1});
  return {SplitBatch(sign, batch), SplitBatch(log, batch), SplitBatch(f.lu, batch),
          SplitBatch(f.pivots, batch)};
}

LOWER("aten::linalg_lu_factor_ex", LuFactorEx);
LOWER("aten::linalg_lu", Lu);
LOWER("aten::lu_unpack", LuUnpack);
LOWER("aten::linalg_lu_solve", LuSolve);
LOWER("aten::linalg_inv_ex", InverseEx);
LOWER("aten::_linalg_solve_ex", SolveEx);
LOWER("aten::_linalg_det", Determinant);
LOWER("aten::_linalg_slogdet", SignedLogDeterminant);

}  // namespace
}  // namespace torch_tpu::ops
