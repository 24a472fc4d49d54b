// Completion of asynchronous work of a plugin.
#pragma once

#include <functional>
#include <memory>

#include "base/status.h"

struct PJRT_Event;

namespace torch_tpu::pjrt {

class Plugin;

// A plugin's answer to "when is it done". Empty events are ready and ok. Destroying one never
// blocks.
class Event {
 public:
  Event() = default;
  // Takes ownership of `event`.
  Event(std::shared_ptr<const Plugin> plugin, PJRT_Event* event);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  bool IsReady() const;
  // Blocks until ready; returns the failure that the event carries.
  Status Await() const;
  // Calls `callback` once, on a thread of the plugin's choosing or inline when already ready, also
  // when this Event is destroyed first. It must not block and must not throw. Not called when
  // OnReady itself fails.
  Status OnReady(std::function<void(Status)> callback) const;

 private:
  std::shared_ptr<const Plugin> plugin_;
  PJRT_Event* event_ = nullptr;
};

}  // namespace torch_tpu::pjrt
