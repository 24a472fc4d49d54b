// Thread-local modes.
#include "device/mode.h"

#include "base/env.h"

namespace torch_tpu::device {
namespace {

constexpr int kUnset = -1;
thread_local int g_mode = kUnset;
thread_local bool g_cpu_fallback = false;

}  // namespace

Mode CurrentMode() {
  if (g_mode != kUnset) return static_cast<Mode>(g_mode);
  static const Mode from_environment = env::Get().launch_blocking ? Mode::kDebug : Mode::kStrict;
  return from_environment;
}

Mode SetMode(Mode mode) {
  const Mode previous = CurrentMode();
  g_mode = static_cast<int>(mode);
  return previous;
}

const char* ModeName(Mode mode) { return mode == Mode::kDebug ? "debug" : "strict"; }

bool CpuFallbackEnabled() { return g_cpu_fallback; }

bool SetCpuFallback(bool enabled) {
  const bool previous = g_cpu_fallback;
  g_cpu_fallback = enabled;
  return previous;
}

}  // namespace torch_tpu::device
