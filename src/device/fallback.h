// Running an operator on the CPU, when the user asked for it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <map>
#include <string>

namespace torch_tpu::device {

// Copies the arguments to the CPU, runs the operator there, copies written arguments and results
// back. Warns once an operator, counts each use, refuses views.
void RunOnCpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// Uses by operator name.
std::map<std::string, int64_t> FallbackCounts();

}  // namespace torch_tpu::device
