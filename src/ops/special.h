// What the special functions are computed by: Chebyshev expansions, and when a series has ended.
#pragma once

#include <span>

#include "ops/call.h"

namespace torch_tpu::ops {

// Sum of coefficients[k] T_k(t) for t of [-1, 1], the first one halved, by Clenshaw's rule, without
// terms that float32 cannot see.
Value Chebyshev(Value t, std::span<const double> coefficients);

// Half of the distance from 1 to the next float32, or of float64 where that is the dtype: a term
// of this part of a sum no longer changes it.
double RoundOff(DType dtype);

}  // namespace torch_tpu::ops
