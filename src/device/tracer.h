// Records calls instead of running them: how a PyTorch decomposition becomes one program.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "device/signature.h"
#include "graph/call_spec.h"

namespace torch_tpu::device {

// While one is alive, every call of this thread is appended to its trace. They nest: the innermost
// records.
class Tracer {
 public:
  Tracer();
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Null when calls run.
  static Tracer* Current();

  // A tensor that stands for the next tensor argument of the traced operator.
  at::Tensor AddPlaceholder(c10::ScalarType dtype, c10::IntArrayRef sizes);
  // Appends a call; gives its results.
  std::vector<ValueRef> Append(const std::shared_ptr<const graph::CallSpec>& spec,
                               const std::vector<graph::OperandRef>& operands);
  // Makes `tensor` (undefined allowed) the next result.
  void AddOutput(const at::Tensor& tensor);
  std::shared_ptr<const graph::Trace> Finish();

 private:
  graph::Trace::Binding BindingOf(const graph::OperandRef& operand);

  std::shared_ptr<graph::Trace> trace_;
  Tracer* outer_;
};

}  // namespace torch_tpu::device
