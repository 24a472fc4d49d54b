// Declared host operators: those that run on the CPU because no program for them exists.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace torch_tpu::device {

struct HostOperator {
  const char* base;    // "linalg_eig": all overloads with a CPU kernel, in-place and out= included
  const char* reason;  // completes "it runs on the host, because ..."
};

// The table of src/device/host_ops.cc, in which an operator is one line.
std::span<const HostOperator> HostOperators();

// The entry of an overload's base name, or null.
const HostOperator* FindHostOperator(const c10::OperatorName& name);

// Copies the arguments to the CPU, runs the operator there, and copies written arguments and fresh
// results back, with the sizes and strides that the CPU gave them. Autograd is above and not
// touched. A random operator draws from a CPU generator seeded by the device's. Gives one notice an
// operator and counts each use. Raises NotImplementedError while calls are recorded.
void RunOnHost(const HostOperator& host, const c10::OperatorHandle& op, torch::jit::Stack* stack);

// Uses by base name.
std::map<std::string, int64_t> HostOperatorCounts();

}  // namespace torch_tpu::device
