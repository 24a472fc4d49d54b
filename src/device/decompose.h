// Working out what an operator returns and, where there is no lowering, what it does: Meta kernels,
// shape functions and PyTorch decompositions.
#pragma once

#include <functional>
#include <memory>

#include "device/make_entry.h"
#include "device/op_info.h"
#include "graph/call_spec.h"

namespace torch_tpu::device {

// Runs PyTorch's decomposition of the functional operator on placeholders and records it. `outputs`
// gets what it returns. Raises NotImplementedError with the operator's name when there is none.
std::shared_ptr<const graph::Trace> TraceDecomposition(const OpInfo& info, Arguments args,
                                                       MetaOutputs* outputs);

// Asks the lowering's own shape function.
MetaOutputs RunShapeFunction(const OpInfo& info, const Signature& signature,
                             const std::function<const graph::ArgSpec&(int)>& arg);

// "operator X is not available on tpu: ..." with where to look; raises NotImplementedError.
[[noreturn]] void RaiseMissing(const std::string& name);

}  // namespace torch_tpu::device
