// Stream table and events with completion times.
#include "device/stream.h"

#include <deque>

#include "device/errors.h"
#include "graph/deferred.h"

namespace torch_tpu::device {
namespace {

struct Streams {
  std::mutex mutex;
  std::deque<graph::InFlight> work;  // deque: addresses stay
  Streams() { work.emplace_back(); }
};

Streams& GetStreams() {
  static auto* streams = new Streams();
  return *streams;
}

thread_local c10::StreamId g_current = 0;
thread_local graph::InFlight* g_current_work = nullptr;

}  // namespace

graph::InFlight& StreamWork(c10::StreamId id) {
  if (id == g_current && g_current_work != nullptr) return *g_current_work;
  Streams& streams = GetStreams();
  std::lock_guard lock(streams.mutex);
  const auto i = static_cast<size_t>(id);
  graph::InFlight& work = i < streams.work.size() ? streams.work[i] : streams.work[0];
  if (id == g_current) g_current_work = &work;
  return work;
}

c10::StreamId CurrentStream() { return g_current; }

c10::StreamId ExchangeCurrentStream(c10::StreamId id) {
  g_current_work = nullptr;
  return std::exchange(g_current, id);
}

c10::StreamId NewStream() {
  Streams& streams = GetStreams();
  std::lock_guard lock(streams.mutex);
  streams.work.emplace_back();
  return static_cast<c10::StreamId>(streams.work.size() - 1);
}

void SynchronizeAll() {
  ThrowIfError(graph::Recorder::Get().Drain(), "synchronize");
  std::vector<graph::InFlight*> all;
  {
    Streams& streams = GetStreams();
    std::lock_guard lock(streams.mutex);
    for (auto& w : streams.work) all.push_back(&w);
  }
  Status first;
  for (auto* w : all) {
    Status s = w->Await();
    if (first.ok()) first = s;
  }
  ThrowIfError(first, "synchronize");
}

void SynchronizeStream(c10::StreamId id) {
  ThrowIfError(graph::Recorder::Get().Drain(), "synchronize");
  ThrowIfError(StreamWork(id).Await(), "synchronize");
}

bool StreamIsReady(c10::StreamId id) {
  return graph::Recorder::Get().idle() && StreamWork(id).IsReady();
}

std::shared_ptr<EventState::Point> EventState::Current() {
  std::lock_guard lock(mutex_);
  return point_;
}

void EventState::Record(c10::StreamId stream) {
  // Work that failed before it was launched is told by its results.
  (void)graph::Recorder::Get().Drain();
  auto point = std::make_shared<Point>();
  {
    std::lock_guard lock(mutex_);
    point_ = point;
  }
  StreamWork(stream).OnReady([point] {
    std::lock_guard lock(point->mutex);
    point->done = true;
    point->time = std::chrono::steady_clock::now();
    point->done_cv.notify_all();
  });
}

bool EventState::recorded() { return Current() != nullptr; }

bool EventState::Query() {
  auto point = Current();
  if (!point) return true;
  std::lock_guard lock(point->mutex);
  return point->done;
}

void EventState::Wait() {
  auto point = Current();
  if (!point) return;
  std::unique_lock lock(point->mutex);
  point->done_cv.wait(lock, [&] { return point->done; });
}

std::chrono::steady_clock::time_point EventState::CompletionTime() {
  Wait();
  auto point = Current();
  std::lock_guard lock(point->mutex);
  return point->time;
}

}  // namespace torch_tpu::device
