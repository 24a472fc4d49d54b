// A plain thread pool.
#include "cache/work_queue.h"

#include <unistd.h>

#include <utility>

namespace torch_tpu::cache {

bool WorkQueue::Add(std::function<void()> job) {
  std::lock_guard lock(mutex_);
  if (closed_ || jobs_.size() >= max_jobs_) return false;
  if (process_ == 0) process_ = getpid();
  if (process_ != getpid()) return false;
  jobs_.push_back(std::move(job));
  const size_t busy = jobs_.size() + static_cast<size_t>(running_);
  if (busy > threads_.size() && static_cast<int>(threads_.size()) < max_threads_) {
    threads_.emplace_back([this] { Run(); });
  }
  wake_.notify_one();
  return true;
}

void WorkQueue::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return closed_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    ++running_;
    lock.unlock();
    job();
    job = nullptr;  // what it holds may need time to go away
    lock.lock();
    --running_;
    idle_.notify_all();
  }
}

bool WorkQueue::Drain(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (process_ != getpid()) return true;
  return idle_.wait_for(lock, limit, [&] { return jobs_.empty() && running_ == 0; });
}

void WorkQueue::Close() {
  std::vector<std::thread> threads;
  std::deque<std::function<void()>> dropped;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(jobs_);
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) process_ == getpid() ? thread.join() : thread.detach();
}

size_t WorkQueue::pending() const {
  std::lock_guard lock(mutex_);
  return jobs_.size() + static_cast<size_t>(running_);
}

}  // namespace torch_tpu::cache
