// Exceptions out of Status.
#include "device/errors.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <cstdio>

#include "base/env.h"
#include "graph/value.h"

namespace torch_tpu::device {
namespace {

PythonLineFn g_python_line = nullptr;
WarnFn g_warn = nullptr;

std::string Text(const Status& status, const char* context) {
  std::string message = status.message();
  const size_t line_end = message.find('\n');
  if (line_end != std::string::npos && !env::Get().show_compiler_log) {
    message =
        message.substr(0, line_end) + " (set TORCH_TPU_SHOW_COMPILER_LOG=1 for the whole text)";
  }
  if (context != nullptr && message.rfind(context, 0) != 0)
    message = std::string(context) + ": " + message;
  return message;
}

}  // namespace

void ThrowIfError(const Status& status, const char* context) {
  if (status.ok()) return;
  const std::string text = Text(status, context);
  switch (status.code()) {
    case StatusCode::kResourceExhausted:
      TORCH_CHECK_WITH(
          OutOfMemoryError, false, "tpu out of memory. ", text, " In use: ",
          HumanBytes(static_cast<double>(graph::MemoryAccount::Get().allocated.load())), " in ",
          graph::MemoryAccount::Get().count.load(), " buffers.");
      break;
    case StatusCode::kOutOfRange:
      TORCH_CHECK_INDEX(false, text);
      break;
    case StatusCode::kUnimplemented:
      TORCH_CHECK_NOT_IMPLEMENTED(false, text);
      break;
    default:
      TORCH_CHECK(false, text);
  }
}

void CheckAllocation(const Dims& dims, DType dtype) {
  static const double host_bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  double bytes = static_cast<double>(DTypeSize(dtype));
  for (int64_t d : dims) bytes *= static_cast<double>(d);
  // A TPU has no more memory than its host in any known machine; refusing here is what keeps a typo
  // from hanging.
  if (bytes <= 4 * host_bytes) return;
  TORCH_CHECK_WITH(OutOfMemoryError, false, "tpu out of memory. Tried to allocate ",
                   HumanBytes(bytes), " for a tensor of ", DimsToString(dims), " elements of ",
                   DTypeName(dtype), ", more than four times the memory of this host.");
}

std::string HumanBytes(double bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 6) {
    bytes /= 1024;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", bytes, kUnits[unit]);
  return text;
}

void SetWarnFunction(WarnFn fn) { g_warn = fn; }

void Warn(const std::string& text) {
  if (g_warn != nullptr) return g_warn(text);
  TORCH_WARN(text);
}

void SetPythonLineFunction(PythonLineFn fn) { g_python_line = fn; }

std::string PythonLine() { return g_python_line != nullptr ? g_python_line() : std::string(); }

}  // namespace torch_tpu::device
