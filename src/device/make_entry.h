// The slow path of a call: what a new signature needs to be worked out once.
#pragma once

#include <ATen/core/stack.h>

#include <memory>

#include "device/entry.h"
#include "device/op_info.h"

namespace torch_tpu::device {

using Arguments = c10::ArrayRef<c10::IValue>;

// Writes the arguments into `signature`. Raises PyTorch's device mismatch error for host tensors of
// one or more dims.
void WriteSignature(const OpInfo& info, Arguments args, Signature* signature);

// One argument of it.
void WriteTensor(const OpInfo& info, const ArgInfo& arg, const at::Tensor& t, Signature* signature);
void WriteNumber(const OpInfo& info, const ArgInfo& arg, const at::Scalar& number,
                 Signature* signature);

// Output shapes and dtypes of the functional operator, lists flattened. `per_return`: -1 for a
// tensor, else list size.
struct MetaOutputs {
  std::vector<OutputTensor> tensors;
  std::vector<int> per_return;
  std::vector<c10::IValue> values;  // returns that are no tensors
  DType common = DType::kInvalid;
  bool known = false;  // false: no Meta kernel
};
// Runs PyTorch's Meta kernels, which also raise PyTorch's own errors for bad arguments. Where they
// refuse a call of a functional operator that the CPU takes, the CPU's results on zeros count.
MetaOutputs RunMeta(const OpInfo& info, Arguments args);

// Runs the operator on CPU tensors of the same shapes (zeros): called when a call was refused, so
// that the error has PyTorch's own type and words. Returns when the CPU has nothing against the
// arguments.
void RaiseAsCpuWould(const OpInfo& info, Arguments args);

// Resizes out= tensors to the result's sizes, checks that its dtype can be cast. True when a tensor
// was resized.
bool PrepareOut(const OpInfo& info, Arguments args, const MetaOutputs& meta);

std::unique_ptr<Entry> MakeEntry(OpInfo& info, Arguments args, const Signature& signature,
                                 MetaOutputs meta);

}  // namespace torch_tpu::device
