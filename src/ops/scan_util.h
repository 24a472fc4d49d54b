// Running reductions along one dim.
#pragma once

#include "ops/call.h"

namespace torch_tpu::ops {

// Element i of the result combines elements 0..i along `dim`; `combine` is associative and `init`
// is its identity. One operand only: XLA's rewrite of long windows miscounts the types of several.
Value Scan(Value x, Value init, int64_t dim, const shlo::Combine& combine);
Value CumSum(Value x, int64_t dim);

}  // namespace torch_tpu::ops
