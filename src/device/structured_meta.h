// PyTorch's C++ Meta kernels of structured operators.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/operator_name.h>

namespace torch_tpu::device {

// The kernel that PyTorch compiled for this functional overload, or null. The dispatcher does not
// reach it: a Python kernel is registered over it, and the first call of an elementwise one imports
// torch._dynamo, which takes seconds.
const c10::KernelFunction* FindStructuredMeta(const c10::OperatorName& name);

}  // namespace torch_tpu::device
