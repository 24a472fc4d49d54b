// Completions, memory accounting, failure orders and the worker thread of the fake plugin.
#include "pjrt/fake/fake_runtime.h"

#include <chrono>
#include <thread>
#include <utility>

namespace torch_tpu::pjrt::fake {

void Completion::Complete(std::optional<Failure> failure) {
  std::vector<std::function<void(const std::optional<Failure>&)>> callbacks;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    failure_ = std::move(failure);
    ready_ = true;
    callbacks.swap(callbacks_);
  }
  ready_changed_.notify_all();
  for (const auto& callback : callbacks) callback(failure_);
}

bool Completion::IsReady() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ready_;
}

const std::optional<Failure>& Completion::Await() const {
  std::unique_lock<std::mutex> lock(mutex_);
  ready_changed_.wait(lock, [this] { return ready_; });
  return failure_;
}

void Completion::OnReady(std::function<void(const std::optional<Failure>&)> callback) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!ready_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback(failure_);
}

std::shared_ptr<Completion> Completed() {
  auto completion = std::make_shared<Completion>();
  completion->Complete(std::nullopt);
  return completion;
}

std::shared_ptr<Storage> Storage::Allocate(int64_t bytes) {
  Controls& controls = GetControls();
  const int64_t limit = controls.memory_limit;
  int64_t live = controls.live_bytes;
  do {
    if (limit > 0 && live + bytes > limit) return nullptr;
  } while (!controls.live_bytes.compare_exchange_weak(live, live + bytes));
  int64_t peak = controls.peak_bytes;
  while (peak < live + bytes && !controls.peak_bytes.compare_exchange_weak(peak, live + bytes)) {
  }
  return std::shared_ptr<Storage>(new Storage(bytes));
}

Storage::~Storage() { GetControls().live_bytes -= size(); }

void Controls::Reset() {
  delay_ms = 0;
  memory_limit = 0;
  peak_bytes = live_bytes.load();
  const std::lock_guard<std::mutex> lock(mutex_);
  counts_.clear();
  orders_.clear();
  last_module_.clear();
  last_options_.clear();
}

std::optional<Failure> Controls::Record(std::string_view slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = counts_.find(slot);
  if (found == counts_.end()) {
    counts_.emplace(slot, 1);
  } else {
    ++found->second;
  }
  std::optional<Failure> failure;
  std::erase_if(orders_, [&](Order& order) {
    if (order.slot != slot || --order.remaining > 0) return false;
    failure = std::move(order.failure);
    return true;
  });
  return failure;
}

int64_t Controls::CallCount(std::string_view slot) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = counts_.find(slot);
  return found == counts_.end() ? 0 : found->second;
}

void Controls::FailNext(std::string_view slot, int nth, Failure failure) {
  const std::lock_guard<std::mutex> lock(mutex_);
  orders_.push_back({std::string(slot), nth, std::move(failure)});
}

std::optional<Failure> Controls::TakeExecutionFailure() { return Record("execution"); }

void Controls::SetLastCompile(std::string_view module, std::string_view options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_module_ = module;
  last_options_ = options;
}

std::string Controls::last_module() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_module_;
}

std::string Controls::last_options() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_options_;
}

Controls& GetControls() {
  static Controls* controls = new Controls;
  return *controls;
}

void Worker::Run(std::function<void()> execution) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!hold_ && !busy_ && queue_.empty() && GetControls().delay_ms == 0) {
    lock.unlock();
    execution();
    return;
  }
  queue_.push_back(std::move(execution));
  if (!std::exchange(started_, true)) std::thread([this] { Loop(); }).detach();
  changed_.notify_all();
}

void Worker::SetHold(bool on) {
  const std::lock_guard<std::mutex> lock(mutex_);
  hold_ = on;
  changed_.notify_all();
}

void Worker::WaitUntilIdle() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
}

void Worker::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !hold_ && !queue_.empty(); });
    std::function<void()> execution = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(GetControls().delay_ms));
    execution();
    execution = nullptr;  // frees what it holds before the worker counts as idle
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

Worker& GetWorker() {
  static Worker* worker = new Worker;
  return *worker;
}

PJRT_Error* MakeError(PJRT_Error_Code code, std::string message) {
  auto* error = new PJRT_Error;
  error->failure = {code, std::move(message)};
  return error;
}

PJRT_Event* MakeEvent(std::shared_ptr<Completion> completion) {
  auto* event = new PJRT_Event;
  event->completion = std::move(completion);
  return event;
}

}  // namespace torch_tpu::pjrt::fake
