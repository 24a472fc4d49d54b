// Modes, and how they follow a task into PyTorch's threads.
#include "device/mode.h"

#include <c10/util/Exception.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/env.h"
#include "graph/deferred.h"

namespace torch_tpu::device {
namespace {

thread_local bool g_cpu_fallback = false;
std::atomic<int> g_scopes{0};  // PushModes that are not popped, of all threads

// PyTorch hands this to the threads that work for the one that pushed it.
constexpr std::string_view kModeName = "TORCH_TPU_MODE";
const c10::DebugInfoKind kMode(&kModeName);
struct ModeInfo final : c10::DebugInfoBase {
  explicit ModeInfo(Mode m) : mode(m) {}
  Mode mode;
};

thread_local std::vector<std::shared_ptr<ModeInfo>> g_modes;
thread_local const ModeInfo* g_innermost = nullptr;

Mode FromEnvironment() {
  static const Mode mode = env::Get().launch_blocking  ? Mode::kDebug
                           : env::Get().defer_and_fuse ? Mode::kDefer
                                                       : Mode::kStrict;
  return mode;
}

}  // namespace

Mode CurrentMode() {
  if (g_innermost != nullptr) return g_innermost->mode;
  if (g_scopes.load(std::memory_order_relaxed) != 0) {
    const auto* info = static_cast<const ModeInfo*>(c10::ThreadLocalDebugInfo::get(kMode));
    if (info != nullptr) return info->mode;
  }
  return FromEnvironment();
}

void PushMode(Mode mode) {
  g_modes.push_back(std::make_shared<ModeInfo>(mode));
  g_innermost = g_modes.back().get();
  c10::ThreadLocalDebugInfo::_push(kMode, g_modes.back());
  g_scopes.fetch_add(1, std::memory_order_relaxed);
}

void PopMode() {
  TORCH_CHECK(!g_modes.empty(), "no eager mode to leave in this thread");
  const std::shared_ptr<ModeInfo> ended = std::move(g_modes.back());
  g_modes.pop_back();
  g_innermost = g_modes.empty() ? nullptr : g_modes.back().get();
  g_scopes.fetch_sub(1, std::memory_order_relaxed);
  if (ended->mode == Mode::kDefer) graph::Recorder::Get().Send();
  try {
    c10::ThreadLocalDebugInfo::_pop(kMode);
  } catch (const c10::Error&) {
    // Somebody (a profiler) pushed after us and is still there: what we pushed stays below it.
    ended->mode = CurrentMode();
  }
}

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kDebug:
      return "debug";
    case Mode::kDefer:
      return "defer";
    case Mode::kStrict:
      break;
  }
  return "strict";
}

bool CpuFallbackEnabled() { return g_cpu_fallback; }

bool SetCpuFallback(bool enabled) {
  const bool previous = g_cpu_fallback;
  g_cpu_fallback = enabled;
  return previous;
}

}  // namespace torch_tpu::device
