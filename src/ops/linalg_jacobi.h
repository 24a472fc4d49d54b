// Jacobi's method on a batch of matrices: the one loop behind eigenvalues and singular values.
#pragma once

#include <optional>

#include "ops/call.h"

namespace torch_tpu::ops {

// `rows` = `rotation` x, where the rows[b, n, m] are orthogonal to each other to working precision
// and rotation[b, n, n] is unitary.
struct OrthogonalRows {
  Value rows;
  std::optional<Value> rotation;  // only when asked for
};

// One-sided Jacobi on x[b, n, m], a sweep over all pairs of rows a pass of a loop, until a sweep
// finds nothing to turn. n / 2 disjoint pairs are turned at once. Entries must be such that squares
// neither overflow nor vanish. NaN ends the loop and gives NaN.
OrthogonalRows Orthogonalise(Value x, bool with_rotation);

// Positions s32[b, n] that sort key[b, n].
Value SortOrder(Value key, bool descending);

// What to divide a[b, n, m] by ([b, 1, 1], real) so that its squares and fourth powers neither
// overflow nor vanish: 1 for nearly all matrices.
Value SafeScale(Value a);

}  // namespace torch_tpu::ops
