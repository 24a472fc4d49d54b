// The device allocator: storages made by PyTorch itself, and memory statistics.
#include <c10/core/CachingDeviceAllocator.h>

#include "device/handle.h"
#include "device/stream.h"
#include "graph/runtime.h"

namespace torch_tpu::device {
namespace {

using c10::CachingDeviceAllocator::DeviceStats;

class DeviceAllocator final : public c10::DeviceAllocator {
 public:
  // A storage of raw bytes: a handle over that many uint8 zeros, which take no memory until
  // written.
  c10::DataPtr allocate(size_t bytes) override {
    return MakeDataPtr(UndefinedValue(DType::kU8, {static_cast<int64_t>(bytes)}));
  }

  void copy_data(void* /*dest*/, const void* /*src*/, std::size_t /*count*/) const override {
    TORCH_CHECK(false, "device tpu has no raw memory to copy; use Tensor.clone() or copy_()");
  }

  bool initialized() override { return graph::Runtime::initialized(); }
  void emptyCache(c10::MempoolId_t) override {}
  // Values are reference counted and executions keep their inputs, so nothing is ever reused too
  // early.
  void recordStream(const c10::DataPtr&, c10::Stream) override {}

  DeviceStats getDeviceStats(c10::DeviceIndex) override {
    DeviceStats stats;
    const auto& account = graph::MemoryAccount::Get();
    constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    const int64_t current = account.allocated.load();
    for (auto* s : {&stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes,
                    &stats.requested_bytes}) {
      (*s)[kAll].current = current;
      (*s)[kAll].peak = account.peak.load();
    }
    for (auto* s : {&stats.allocation, &stats.active}) {
      (*s)[kAll].current = account.count.load();
      (*s)[kAll].allocated = account.total_count.load();
      (*s)[kAll].freed = account.total_count.load() - account.count.load();
    }
    return stats;
  }

  void resetAccumulatedStats(c10::DeviceIndex) override {
    graph::MemoryAccount::Get().total_count.store(0);
  }
  void resetPeakStats(c10::DeviceIndex) override {
    auto& account = graph::MemoryAccount::Get();
    account.peak.store(account.allocated.load());
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex) override;
};

DeviceAllocator& Instance() {
  static auto* allocator = new DeviceAllocator();
  return *allocator;
}

std::pair<size_t, size_t> DeviceAllocator::getMemoryInfo(c10::DeviceIndex) {
  auto runtime = graph::Runtime::Get();
  TORCH_CHECK(runtime.ok(), runtime.status().message());
  auto stats = (*runtime)->client().DeviceMemoryStats();
  TORCH_CHECK_NOT_IMPLEMENTED(
      stats.ok() && stats->count("bytes_limit") > 0,
      "the plugin of device tpu does not tell how much memory the device has");
  const size_t limit = stats->at("bytes_limit");
  return {limit - stats->at("bytes_in_use"), limit};
}

}  // namespace

c10::Allocator* GetAllocator() { return &Instance(); }

REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &Instance());

}  // namespace torch_tpu::device
