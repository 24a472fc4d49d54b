// The counted CPU fallback.
#include "device/fallback.h"

#include <ATen/native/CPUFallback.h>

#include <mutex>

#include "device/errors.h"
#include "device/op_info.h"
#include "graph/runtime.h"

namespace torch_tpu::device {
namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::string, int64_t> uses;
};

Counts& GetCounts() {
  static auto* counts = new Counts();
  return *counts;
}

}  // namespace

void RunOnCpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::string name = FullName(op.operator_name());
  bool first = false;
  {
    std::lock_guard lock(GetCounts().mutex);
    first = GetCounts().uses[name]++ == 0;
  }
  graph::Counters::Get().fallbacks.fetch_add(1, std::memory_order_relaxed);
  if (first) {
    Warn("The operator '" + name +
         "' is not implemented on device tpu and runs on the CPU (cpu_fallback is on). Each use "
         "copies "
         "its tensors to the host and back.");
  }
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

std::map<std::string, int64_t> FallbackCounts() {
  std::lock_guard lock(GetCounts().mutex);
  return GetCounts().uses;
}

}  // namespace torch_tpu::device
