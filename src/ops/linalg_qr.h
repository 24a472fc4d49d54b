// QR factorisation by Householder reflections of a batch of matrices, in LAPACK's conventions.
#pragma once

#include "ops/call.h"

namespace torch_tpu::ops {

// What LAPACK's geqrf gives for a[b, m, n], with k = min(m, n): R on and above the diagonal; below
// it, in column i, the vector v of reflection i, whose entries above row i are 0 and whose entry at
// row i is 1. Q = H(0) H(1) ... H(k-1), where H(i) = I - tau[i] v v^H.
struct QrFactors {
  Value packed;  // [b, m, n]
  Value tau;     // [b, k]
};

// One reflection a pass of a loop, whatever the size.
QrFactors FactorQr(Value a);

// Q c, or Q^H c when `adjoint`, for c[b, m, p] and the reflections packed[b, m, >= k], tau[b, k].
Value ApplyReflections(Value packed, Value tau, Value c, bool adjoint);

// The first `columns` columns of Q: [b, m, columns].
Value OrthogonalFactor(Value packed, Value tau, int64_t columns);

}  // namespace torch_tpu::ops
