// A user's function as one StableHLO module, without running or compiling anything.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "device/tracer.h"

namespace torch_tpu::device {

struct CapturedModule {
  std::string text;
  std::vector<graph::TensorType> inputs;   // placeholders, then seeds, then found tensors
  std::vector<graph::TensorType> outputs;  // results, then new values of written placeholders
  std::vector<int> written;                // placeholders that the function wrote, in order
  int num_found = 0;                       // tensors that existed before and were read
  int num_seeds = 0;
  std::vector<std::string> operators;  // names in the order of their calls
};

// Between construction and Finish every call of this thread, and of the threads that PyTorch uses
// for it, is recorded. Calls that need a value ask in vain: they raise and name themselves.
class Capture {
 public:
  // `keep_padding`: see Tracer::KeepPadding.
  explicit Capture(bool keep_padding);
  // A device tensor that stands for an input; it has no memory. Strides must be dense.
  at::Tensor Placeholder(c10::ScalarType dtype, c10::IntArrayRef sizes, c10::IntArrayRef strides);
  // Ends the recording. The module returns `results`, then the new values of placeholders that were
  // written in place, whose memory they take.
  CapturedModule Finish(const std::vector<at::Tensor>& results);
  // Ends the recording without a module.
  void Abandon() { tracer_.reset(); }

 private:
  std::unique_ptr<Tracer> tracer_ = std::make_unique<Tracer>(Tracer::Scope::kTask);
  std::vector<at::Tensor> placeholders_;
};

}  // namespace torch_tpu::device
