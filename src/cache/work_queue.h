// Work that nobody waits for: threads that start with the first job and can be drained.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace torch_tpu::cache {

// Thread-safe. In a child forked from a process whose threads ran, Add does nothing.
class WorkQueue {
 public:
  explicit WorkQueue(int max_threads, size_t max_jobs = 1024)
      : max_threads_(max_threads), max_jobs_(max_jobs) {}
  ~WorkQueue() { Close(); }
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // False when the queue is full or closed: the job is dropped. Jobs must not throw.
  bool Add(std::function<void()> job);
  // Waits until every job so far is done; false when that took longer than `limit`.
  bool Drain(std::chrono::milliseconds limit);
  // Drops what has not begun and waits for what has.
  void Close();
  size_t pending() const;

 private:
  void Run();

  const int max_threads_;
  const size_t max_jobs_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  int running_ = 0;
  int process_ = 0;  // that the threads belong to
  bool closed_ = false;
};

}  // namespace torch_tpu::cache
