// Execution modes and switches, per thread.
#pragma once

#include <cstdint>
#include <string>

namespace torch_tpu::device {

enum class Mode : uint8_t { kStrict, kDebug };

// The mode of this thread: set by SetMode, else TORCH_TPU_LAUNCH_BLOCKING decides.
Mode CurrentMode();
Mode SetMode(Mode mode);  // returns the previous one
const char* ModeName(Mode mode);

// Whether missing operators may run on the CPU (off by default).
bool CpuFallbackEnabled();
bool SetCpuFallback(bool enabled);

}  // namespace torch_tpu::device
