// The boxed kernel: one function that serves every operator with a lowering or a decomposition.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <functional>
#include <string>

#include "device/op_info.h"

namespace torch_tpu::device {

// Runs the operator on the arguments on top of the stack and replaces them by its results.
void CallBoxed(OpInfo& info, torch::jit::Stack* stack);

// True for a tensor that is lazily conjugated or negated: its value is not what its memory holds.
bool IsLazy(const at::Tensor& tensor);

// The OpInfo of an overload, made at its first use and kept. Thread-safe.
OpInfo& InfoOf(const c10::OperatorHandle& op);

// Asks Python for a decomposition of a functional overload ("aten::foo.bar"), and runs it on a
// stack of arguments (results replace them). Set once by the bindings.
struct Decompositions {
  std::function<bool(const std::string& name)> exists;
  std::function<void(const c10::OperatorHandle& functional, torch::jit::Stack* stack)> run;
};
void SetDecompositions(Decompositions decompositions);
const Decompositions& GetDecompositions();

}  // namespace torch_tpu::device
