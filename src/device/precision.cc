// Precision of products, from the three places where a program may set it.
#include "device/precision.h"

#include <ATen/Context.h>

#include <atomic>
#include <utility>

#include "device/errors.h"

namespace torch_tpu::device {
namespace {

using shlo::Precision;

constexpr int kUnset = -1;
thread_local int g_thread = kUnset;
std::atomic<int> g_default{kUnset};

std::optional<Precision> Read(int value) {
  if (value == kUnset) return std::nullopt;
  return static_cast<Precision>(value);
}

int Written(std::optional<Precision> precision) {
  return precision ? static_cast<int>(*precision) : kUnset;
}

// PyTorch's own value starts as "highest", whoever sets it. What it writes for oneDNN tells
// whether somebody did.
Precision OfPyTorch() {
  switch (at::globalContext().float32Precision(at::Float32Backend::MKLDNN, at::Float32Op::MATMUL)) {
    case at::Float32Precision::IEEE:
      return Precision::kHighest;
    case at::Float32Precision::TF32:
      return Precision::kHigh;
    default:
      return Precision::kDefault;
  }
}

}  // namespace

Precision CurrentPrecision() {
  if (g_thread != kUnset) return static_cast<Precision>(g_thread);
  if (const int set = g_default.load(std::memory_order_relaxed); set != kUnset) {
    return static_cast<Precision>(set);
  }
  return OfPyTorch();
}

std::optional<Precision> SetThreadPrecision(std::optional<Precision> precision) {
  return Read(std::exchange(g_thread, Written(precision)));
}

std::optional<Precision> SetDefaultPrecision(std::optional<Precision> precision) {
  return Read(g_default.exchange(Written(precision)));
}

std::optional<Precision> DefaultPrecision() { return Read(g_default.load()); }

const char* PrecisionName(Precision precision) {
  constexpr const char* kNames[] = {"medium", "high", "highest"};
  return kNames[static_cast<int>(precision)];
}

Precision PrecisionNamed(const std::string& name) {
  for (Precision p : {Precision::kDefault, Precision::kHigh, Precision::kHighest}) {
    if (name == PrecisionName(p)) return p;
  }
  TORCH_CHECK_VALUE(false, "unknown precision '", name, "'; expected medium, high or highest");
}

void WarnOfPrecision(Precision precision, bool is_cpu) {
  if (precision == Precision::kDefault) return;
  static std::atomic<bool> told[3];
  if (told[static_cast<int>(precision)].exchange(true)) return;
  const std::string name = PrecisionName(precision);
  if (is_cpu) {
    Warn("float32 matmul precision '" + name + "' changes nothing on a CPU plugin: float32 stays " +
         "float32 there. On a TPU it makes float32 products slower and more exact.");
  } else {
    Warn("float32 matmul precision '" + name + "': a product of float32 takes " +
         (precision == Precision::kHigh ? "three" : "six") +
         " passes over bfloat16 parts instead of one. 'medium' is fastest, 'highest' nearest to " +
         "float32.");
  }
}

}  // namespace torch_tpu::device
