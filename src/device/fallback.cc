// The counted CPU fallback.
#include "device/fallback.h"

#include <ATen/native/CPUFallback.h>

#include "device/errors.h"
#include "device/op_info.h"
#include "device/use_counts.h"
#include "graph/runtime.h"

namespace torch_tpu::device {
namespace {

UseCounts& Counts() {
  static auto* counts = new UseCounts();
  return *counts;
}

}  // namespace

void RunOnCpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::string name = FullName(op.operator_name());
  const bool first = Counts().Add(name);
  graph::Counters::Get().fallbacks.fetch_add(1, std::memory_order_relaxed);
  if (first) {
    Warn("The operator '" + name +
         "' is not implemented on device tpu and runs on the CPU (cpu_fallback is on). Each use "
         "copies "
         "its tensors to the host and back.");
  }
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

std::map<std::string, int64_t> FallbackCounts() { return Counts().Get(); }

}  // namespace torch_tpu::device
