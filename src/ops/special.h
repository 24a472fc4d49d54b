// Chebyshev expansions, which the special functions are computed by.
#pragma once

#include <span>

#include "ops/call.h"

namespace torch_tpu::ops {

// Sum of coefficients[k] T_k(t) for t of [-1, 1], the first one halved, by Clenshaw's rule, without
// terms that float32 cannot see.
Value Chebyshev(Value t, std::span<const double> coefficients);

}  // namespace torch_tpu::ops
