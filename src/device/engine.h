// Runs a call whose signature is known: launches its program, or records it in the current trace.
#pragma once

#include <ATen/core/Generator.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device/entry.h"
#include "device/signature.h"

namespace torch_tpu::device {

// Scratch signature of this thread. Nested calls (a decomposition, a Meta kernel that computes) get
// their own.
class ScratchSignature {
 public:
  ScratchSignature();
  ~ScratchSignature();
  ScratchSignature(const ScratchSignature&) = delete;
  ScratchSignature& operator=(const ScratchSignature&) = delete;
  Signature& operator*() const { return *signature_; }
  Signature* operator->() const { return signature_; }

 private:
  Signature* signature_;
};

// Mode bits of the signature: whatever of the thread's state changes the program. `precision`: the
// operator makes products whose precision the user chooses.
uint64_t ModeBits(bool precision);

// Sends (or records) the entry's program. `results` are appended in program order. Written tensors
// are not touched.
void Execute(Entry& entry, Signature& signature, const std::optional<at::Generator>& generator,
             std::vector<ValueRef>* results);

// Completes `spec` from its SubCalls: operand types, seeds, captured values, aliases for donation.
void FinishSpec(graph::CallSpec* spec, const Signature& signature);

// The OutputSpec of a fresh tensor of this type with these strides, and of a write into use `use`
// of the signature.
graph::OutputSpec FreshOutput(const graph::TensorType& type, const Dims& strides);
graph::OutputSpec WriteOutput(const graph::TensorType& type, const Signature& signature, int use);

}  // namespace torch_tpu::device
