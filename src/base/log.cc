// Level filter and writer of log lines.
#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <string>

#include "base/env.h"

namespace torch_tpu {
namespace {

std::atomic<int>& CurrentLevel() {
  static std::atomic<int> level{static_cast<int>(env::Get().log_level)};
  return level;
}

}  // namespace

bool LogEnabled(LogLevel level) {
  return static_cast<int>(level) <= CurrentLevel().load(std::memory_order_relaxed);
}

void SetLogLevel(LogLevel level) {
  CurrentLevel().store(static_cast<int>(level), std::memory_order_relaxed);
}

void Log(LogLevel level, std::string_view message) {
  if (!LogEnabled(level)) return;
  std::string line = "torch_tpu: ";
  line += kLogLevelNames[static_cast<int>(level)];
  line += ": ";
  line += message;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace torch_tpu
