// The floor of dispatch: the same program executed straight through PJRT.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace torch_tpu::bindings {

// Microseconds per execution of `module` (text; operands of the types it declares are zeros made
// here from its argument list: all float32 16x16 unless the text says otherwise). `chained`: the
// first result is the next call's first operand. Waits at the end. Raises when the module does not
// compile.
double BareExecuteMicroseconds(const std::string& module, int n, bool chained);

// Runs a module of any types on dense device tensors, its arguments in order, and waits. For
// checking captured programs against eager execution. Raises when the module does not compile or
// wants other arguments.
std::vector<at::Tensor> RunModule(const std::string& module,
                                  const std::vector<at::Tensor>& arguments);

}  // namespace torch_tpu::bindings
