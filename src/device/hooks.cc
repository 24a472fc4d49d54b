// Accelerator hooks: availability, generators, storage resizing, pinned memory.
#include "device/hooks.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "device/errors.h"
#include "device/generator.h"
#include "device/handle.h"
#include "device/pinned.h"
#include "graph/runtime.h"

namespace torch_tpu::device {
namespace {

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  void init() const override { ValueOrThrow(graph::Runtime::Get()); }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return graph::Runtime::initialized(); }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return DefaultGenerator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::make_generator<GeneratorImpl>();
  }

  at::Device getDeviceFromPtr(void* data) const override {
    TORCH_CHECK(IsDevicePointer(data), "this pointer does not belong to device tpu");
    return {c10::DeviceType::PrivateUse1, 0};
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    ResizeStorage(storage.unsafeGetStorageImpl(), bytes);
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return PinnedAllocator(); }
  bool isPinnedPtr(const void* data) const override { return IsPinned(data); }
};

}  // namespace

void RegisterHooks() {
  static auto* hooks = new Hooks();
  at::RegisterPrivateUse1HooksInterface(hooks);
}

}  // namespace torch_tpu::device
