// Streams and events. Work of all streams is sent in program order by the host; a stream is the set
// of work sent while it was current, so it can be queried and waited for on its own.
#pragma once

#include <c10/core/Stream.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/runtime.h"

namespace torch_tpu::device {

// Number 0 is the default stream. Streams live until the process ends (their state is an empty
// queue).
graph::InFlight& StreamWork(c10::StreamId id);
c10::StreamId CurrentStream();
c10::StreamId ExchangeCurrentStream(c10::StreamId id);
c10::StreamId NewStream();
inline graph::InFlight& CurrentWork() { return StreamWork(CurrentStream()); }
// Waits for the work of every stream; the first failure is raised as an exception.
void SynchronizeAll();
void SynchronizeStream(c10::StreamId id);
// Sends what waits; true when all of the stream's work is done.
bool StreamIsReady(c10::StreamId id);

// A point in a stream. Thread-safe.
class EventState {
 public:
  void Record(c10::StreamId stream);
  bool Query();
  void Wait();
  // Completion time of the work recorded; waits for it.
  std::chrono::steady_clock::time_point CompletionTime();
  bool recorded();

 private:
  struct Point {
    std::mutex mutex;
    std::condition_variable done_cv;
    bool done = false;
    std::chrono::steady_clock::time_point time;
  };
  std::shared_ptr<Point> Current();
  std::mutex mutex_;
  std::shared_ptr<Point> point_;  // null until recorded
};

}  // namespace torch_tpu::device
