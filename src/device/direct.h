// Unboxed kernels for the shapes of signature that pointwise operators and matrix products have: a
// call whose signature is known skips the boxing of its arguments.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/CppSignature.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>

namespace torch_tpu::device {

struct UnboxedKernel {
  c10::KernelFunction function;
  c10::impl::CppSignature signature;
};

// Nothing for operators of other shapes, which get the boxed kernel.
std::optional<UnboxedKernel> MakeDirectKernel(const c10::OperatorHandle& op);

}  // namespace torch_tpu::device
