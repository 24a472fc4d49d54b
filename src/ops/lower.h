// Runs one lowering and fits its results to the outputs that PyTorch expects.
#pragma once

#include "base/status.h"
#include "ops/call.h"

namespace torch_tpu::ops {

// Calls `entry` on `call`. Result k is converted to call.out(k).dtype and broadcast to
// call.out(k).dims; empty values (None) pass. The operations carry call.name() as their location.
// Fails with INVALID_ARGUMENT, naming the operator, when the lowering refuses its operands or its
// results do not fit the outputs, and with INTERNAL on any other exception. After a failure the
// Builder is not usable.
Result<Results> RunLowering(const LoweringEntry& entry, Call& call);

}  // namespace torch_tpu::ops
