// Log lines of this library, on stderr, for people. Errors of calls are not logged: they are
// returned.
#pragma once

#include <string_view>

namespace torch_tpu {

enum class LogLevel { kError, kWarning, kInfo, kDebug };
inline constexpr std::string_view kLogLevelNames[] = {"error", "warning", "info", "debug"};

// Whether a line of `level` is written. TORCH_TPU_LOG_LEVEL decides until SetLogLevel is called.
bool LogEnabled(LogLevel level);
void SetLogLevel(LogLevel level);

// Writes "torch_tpu: <level>: <message>" and a line end in one write. Safe from any thread.
void Log(LogLevel level, std::string_view message);

}  // namespace torch_tpu
