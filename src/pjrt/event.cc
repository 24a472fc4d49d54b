// Waiting for events, and callbacks on them.
#include "pjrt/event.h"

#include <utility>

#include "base/log.h"
#include "pjrt/api_call.h"
#include "pjrt/plugin.h"

namespace torch_tpu::pjrt {
namespace {

// Owned by the plugin between OnReady and the call of RunClosure.
struct Closure {
  std::shared_ptr<const Plugin> plugin;
  std::function<void(Status)> callback;
};

void RunClosure(PJRT_Error* error, void* user_arg) {
  const std::unique_ptr<Closure> closure(static_cast<Closure*>(user_arg));
  Status status = TakeError(closure->plugin->api(), error);
  try {
    closure->callback(std::move(status));
  } catch (const std::exception& e) {  // must not unwind through the plugin
    Log(LogLevel::kError, std::string("an event callback threw: ") + e.what());
  } catch (...) {
    Log(LogLevel::kError, "an event callback threw");
  }
}

}  // namespace

Event::Event(std::shared_ptr<const Plugin> plugin, PJRT_Event* event)
    : plugin_(std::move(plugin)), event_(event) {}

Event::~Event() {
  if (event_ != nullptr) plugin_->DestroyEvent(event_);
}

Event::Event(Event&& other) noexcept
    : plugin_(std::move(other.plugin_)), event_(std::exchange(other.event_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this != &other) {
    Event old(std::move(*this));
    plugin_ = std::move(other.plugin_);
    event_ = std::exchange(other.event_, nullptr);
  }
  return *this;
}

bool Event::IsReady() const {
  if (event_ == nullptr || IsShutDown()) return true;
  auto args = MakeArgs<PJRT_Event_IsReady_Args>(PJRT_Event_IsReady_Args_STRUCT_SIZE);
  args.event = event_;
  // A plugin that cannot say is treated as ready: Await then tells why.
  return !TakeError(plugin_->api(), plugin_->api()->PJRT_Event_IsReady(&args)).ok() ||
         args.is_ready;
}

Status Event::Await() const {
  if (event_ == nullptr) return {};
  if (IsShutDown()) return ShutDownStatus();
  auto args = MakeArgs<PJRT_Event_Await_Args>(PJRT_Event_Await_Args_STRUCT_SIZE);
  args.event = event_;
  return TakeError(plugin_->api(), plugin_->api()->PJRT_Event_Await(&args));
}

Status Event::OnReady(std::function<void(Status)> callback) const {
  if (event_ == nullptr) {
    callback(Status());
    return {};
  }
  auto closure = std::make_unique<Closure>(Closure{plugin_, std::move(callback)});
  auto args = MakeArgs<PJRT_Event_OnReady_Args>(PJRT_Event_OnReady_Args_STRUCT_SIZE);
  args.event = event_;
  args.callback = RunClosure;
  args.user_arg = closure.get();
  RETURN_IF_ERROR(
      CallSlot(plugin_->api(), &PJRT_Api::PJRT_Event_OnReady, "PJRT_Event_OnReady", &args));
  closure.release();
  return {};
}

}  // namespace torch_tpu::pjrt
