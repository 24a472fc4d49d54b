// The device guard: devices, streams and events as PyTorch's core asks for them.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "device/errors.h"
#include "device/stream.h"

namespace torch_tpu::device {
namespace {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;

c10::Stream MakeStream(c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kType, 0), id);
}

void CheckIndex(c10::Device device) {
  TORCH_CHECK(device.index() <= 0, "one process sees one device, tpu:0; got ", device,
              " (start one process per device)");
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    CheckIndex(device);
    return {kType, 0};
  }
  c10::Device getDevice() const override { return {kType, 0}; }
  void setDevice(c10::Device device) const override { CheckIndex(device); }
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(c10::Device) const override { return MakeStream(CurrentStream()); }
  c10::Stream getDefaultStream(c10::Device) const override { return MakeStream(0); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    return MakeStream(NewStream());
  }
  c10::Stream getNewStream(c10::Device, int) const override { return MakeStream(NewStream()); }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return MakeStream(ExchangeCurrentStream(stream.id()));
  }
  bool queryStream(const c10::Stream& stream) const override { return StreamIsReady(stream.id()); }
  void synchronizeStream(const c10::Stream& stream) const override {
    SynchronizeStream(stream.id());
  }
  void synchronizeDevice(c10::DeviceIndex) const override { SynchronizeAll(); }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex,
              c10::EventFlag) const override {
    if (*event == nullptr) *event = new EventState();
    static_cast<EventState*>(*event)->Record(stream.id());
  }
  // Values carry their own readiness into every program that reads them, so a later call on any
  // stream waits by itself.
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void* event) const override {
    return event == nullptr || static_cast<EventState*>(event)->Query();
  }
  void synchronizeEvent(void* event) const override {
    if (event != nullptr) static_cast<EventState*>(event)->Wait();
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<EventState*>(event);
  }
  double elapsedTime(void* first, void* second, c10::DeviceIndex) const override {
    TORCH_CHECK(first != nullptr && second != nullptr,
                "Both events must be recorded before calculating elapsed time.");
    const auto t1 = static_cast<EventState*>(first)->CompletionTime();
    const auto t2 = static_cast<EventState*>(second)->CompletionTime();
    return std::chrono::duration<double, std::milli>(t2 - t1).count();
  }
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

}  // namespace
}  // namespace torch_tpu::device
