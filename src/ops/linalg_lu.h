// LU factorisation with partial pivoting of a batch of matrices, and what is built on it.
#pragma once

#include "ops/call.h"

namespace torch_tpu::ops {

// Factors of a[b, m, n], packed as LAPACK's getrf packs them: L below the diagonal (its own
// diagonal is 1), U above.
struct LuFactors {
  Value lu;           // [b, m, n]
  Value pivots;       // s32[b, min(m, n)]: row exchanged with row i, counted from 1
  Value permutation;  // s32[b, m]: row i of the permuted matrix is row permutation[i] of a
  Value info;         // s32[b]: number of the first zero pivot, 0 when there is none
};

// Without `pivot` rows stay where they are. One elimination step a pass of a loop, whatever the
// size.
LuFactors FactorLu(Value a, bool pivot);

// Leading dims merged into one, and back to `batch`.
Value MergeBatch(Value a, int64_t matrix_rank);
Value SplitBatch(Value a, const Dims& batch);
// The dims before the last `matrix_rank`.
Dims BatchDims(const Dims& dims, int64_t matrix_rank);

// The order of rows [b, m] that the exchanges `pivots` [b, k] lead to.
Value PermutationOf(Value pivots, int64_t m);

// x with op(A) x = rhs[b, n, k], where A = P L U as packed; op is the conjugate transpose when
// `adjoint`.
Value SolveLu(Value lu, Value permutation, Value rhs, bool adjoint);

Value Conjugate(Value x);  // x itself when real
Value Adjoint(Value a);    // the last two dims swapped and conjugated

// lhs[b, n, k] x rhs[b, k, m] at the highest precision: factors must not be rounded.
Value FullProduct(Value lhs, Value rhs);

// The slice of size 1 at `k` (rank 0, s32) along `dim` of a rank-3 value.
Value SliceAt(Value a, int64_t dim, Value k);

// Rows of a[b, m, k] in the order rows[b, m], or with row i sent to place rows[i] when `inverse`.
Value PermuteRows(Value a, Value rows, bool inverse);

// Ones where row and column agree: [n, n] spread to [b, n, n].
Value IdentityLike(Value square);

// Elements on and below (lower) or on and above the diagonal shifted by `offset`, zeros elsewhere.
Value Triangle(Value a, bool lower, int64_t offset = 0);

}  // namespace torch_tpu::ops
