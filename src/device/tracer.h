// Records calls instead of running them: how a PyTorch decomposition, or a whole user function for
// ahead-of-time compilation, becomes one program.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <vector>

#include "device/signature.h"
#include "graph/call_spec.h"

namespace torch_tpu::device {

// While one is alive, every call of its scope is appended to its trace. They nest: the innermost
// records. Destroyed by the thread that made it.
class Tracer {
 public:
  enum class Scope {
    kThread,  // calls of this thread
    kTask,    // and those that PyTorch runs for it elsewhere (autograd's device thread), with the
              // Python line of each
  };
  explicit Tracer(Scope scope = Scope::kThread);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Null when calls run.
  static Tracer* Current();
  // Whether a kTask tracer, which records for a TPU that is not there, is alive around this call.
  static bool ForAbsentTpu();

  // A tensor that stands for the next tensor argument: row-major, or with these dense strides.
  at::Tensor AddPlaceholder(c10::ScalarType dtype, c10::IntArrayRef sizes);
  at::Tensor AddPlaceholder(c10::ScalarType dtype, c10::IntArrayRef sizes,
                            c10::IntArrayRef strides);
  // Appends a call; gives its results.
  std::vector<ValueRef> Append(const std::shared_ptr<const graph::CallSpec>& spec,
                               const std::vector<graph::OperandRef>& operands);
  // Results whose size the program decides (nonzero) stay as long as they can become, instead of
  // being cut to a count that nobody can read.
  void KeepPadding() { keeps_padding_ = true; }
  bool keeps_padding() const { return keeps_padding_; }
  // Makes `tensor` (undefined allowed) the next result.
  void AddOutput(const at::Tensor& tensor);
  std::shared_ptr<const graph::Trace> Finish();

 private:
  graph::Trace::Binding BindingOf(const graph::OperandRef& operand);

  std::mutex mutex_;  // kTask: several threads record
  std::shared_ptr<graph::Trace> trace_;
  Scope scope_;
  bool keeps_padding_ = false;
  Tracer* outer_ = nullptr;
};

}  // namespace torch_tpu::device
