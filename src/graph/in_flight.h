// What was sent to the device and is not known to be finished.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "graph/value.h"
#include "pjrt/pjrt.h"

namespace torch_tpu::graph {

// One a stream; thread-safe. A launch is known by the event of its completion, oldest first, or, if
// it is small, by its results for as long as they live: nobody can tell when a small program whose
// results are gone has ended.
class InFlight {
 public:
  InFlight() = default;
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  // Blocks when too many launches are under way: the host runs ahead so far at most.
  void Push(pjrt::Event done);
  // True every so many calls: that launch shall report its completion, small or not.
  bool IsMilestone();
  // A result of a launch without an event. Forgotten when it is ready, is donated or goes.
  void Track(Value& value);
  void Forget(Value& value);

  bool IsReady();
  // Waits for everything sent before the call; the first failure.
  Status Await();
  // Calls `callback` when everything sent so far is done (inline when it is already).
  void OnReady(std::function<void()> callback);

 private:
  using SharedEvent = std::shared_ptr<pjrt::Event>;

  void Unlink(Value& value);
  void PruneEvents();             // drops finished events at the front
  void PruneValues(size_t keep);  // and ready values, while more than `keep` are tracked
  std::vector<SharedEvent> Pending();

  std::mutex mutex_;
  std::deque<SharedEvent> events_;
  Value* first_ = nullptr;  // tracked values, oldest first
  Value* last_ = nullptr;
  size_t num_values_ = 0;
  uint32_t launches_ = 0;
};

}  // namespace torch_tpu::graph
