// Execution modes and switches, per thread.
#pragma once

#include <cstdint>
#include <string>

namespace torch_tpu::device {

enum class Mode : uint8_t { kStrict, kDebug, kDefer };

// The mode of this thread: of the innermost PushMode of it, or of the thread that autograd works
// for; else TORCH_TPU_LAUNCH_BLOCKING and TORCH_TPU_DEFER_AND_FUSE decide.
Mode CurrentMode();
// They nest. PopMode ends the innermost of this thread, and sends what was deferred.
void PushMode(Mode mode);
void PopMode();
const char* ModeName(Mode mode);

// Whether missing operators may run on the CPU (off by default).
bool CpuFallbackEnabled();
bool SetCpuFallback(bool enabled);

}  // namespace torch_tpu::device
