// Two ways to one result: the first that succeeds is taken.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/status.h"
#include "cache/work_queue.h"

namespace torch_tpu::graph {

// Starts `read` (null: not there) in a thread of `readers`. When it has given nothing after
// `grace`, `make` starts in a thread of `makers`. What comes second is dropped. Both outlive the
// call and must own what they use. A queue that takes no more work is done without: `make` then
// runs here.
template <typename T>
Result<std::shared_ptr<T>> Race(cache::WorkQueue& readers, cache::WorkQueue& makers,
                                std::chrono::milliseconds grace,
                                std::function<std::shared_ptr<T>()> read,
                                std::function<Result<std::shared_ptr<T>>()> make) {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool read_done = false;
    std::shared_ptr<T> value;
    std::optional<Result<std::shared_ptr<T>>> made;
  };
  const auto state = std::make_shared<State>();
  const bool reading = readers.Add([state, read = std::move(read)] {
    auto value = read();
    std::lock_guard lock(state->mutex);
    state->read_done = true;
    state->value = std::move(value);
    state->changed.notify_all();
  });
  if (!reading) return make();
  std::unique_lock lock(state->mutex);
  state->changed.wait_for(lock, grace, [&] { return state->read_done; });
  if (state->value != nullptr) return state->value;
  const bool too_late = state->read_done;
  lock.unlock();
  const bool making = !too_late && makers.Add([state, make] {
    auto made = make();
    std::lock_guard inner(state->mutex);
    state->made = std::move(made);
    state->changed.notify_all();
  });
  if (!making) return make();
  lock.lock();
  state->changed.wait(lock, [&] { return state->made || state->value != nullptr; });
  if (state->value != nullptr) return state->value;
  return *state->made;
}

}  // namespace torch_tpu::graph
