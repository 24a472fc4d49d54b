// One watching thread, started by the first compile that is still running after a while.
#include "graph/compile_progress.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "base/env.h"

namespace torch_tpu::graph {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kQuiet{500}, kPatience{2000}, kTick{100};

// A line once a stretch: what is known when it becomes long.
void PrintLine(const CompileStretch& stretch, bool* said) {
  if (!*said) {
    const std::string line = "torch_tpu: compiling since " +
                             std::to_string(static_cast<int>(stretch.seconds)) + " s, " +
                             std::to_string(stretch.started) +
                             " programs so far (TORCH_TPU_COMPILE_PROGRESS=0 silences this)\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  *said = !stretch.over;
}

class Watcher {
 public:
  void Begin() {
    std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (running_ == 0 && now - last_end_ > kQuiet && !long_) {
      begin_ = now;
      started_ = done_ = 0;
    }
    ++running_;
    ++started_;
    wake_.notify_all();
    if (process_ == getpid() || stop_) return;
    if (thread_.joinable()) thread_.detach();  // the parent's; this is a forked child
    process_ = getpid();
    thread_ = std::thread([this] { Watch(); });
  }

  void End() {
    std::lock_guard lock(mutex_);
    --running_;
    ++done_;
    last_end_ = Clock::now();
  }

  void SetReport(std::function<void(const CompileStretch&)> report) {
    std::lock_guard lock(mutex_);
    report_ = std::move(report);
  }

  void Stop() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
      if (process_ != getpid()) return;
      process_ = 0;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  void Watch() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!long_) wake_.wait(lock, [&] { return stop_ || running_ > 0; });
      if (wake_.wait_for(lock, kTick, [&] { return stop_; })) return;
      const auto now = Clock::now();
      const bool active = running_ > 0 || now - last_end_ <= kQuiet;
      if (!long_ && (!active || now - begin_ < kPatience)) continue;
      long_ = active;
      const CompileStretch stretch{started_, done_,
                                   std::chrono::duration<double>(now - begin_).count(), !active};
      const auto report = report_;
      lock.unlock();
      report ? report(stretch) : PrintLine(stretch, &said_);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  std::function<void(const CompileStretch&)> report_;
  int process_ = 0;  // that the thread belongs to
  bool stop_ = false;
  bool long_ = false;  // the stretch has been reported
  bool said_ = false;
  int64_t running_ = 0, started_ = 0, done_ = 0;
  Clock::time_point begin_, last_end_;
};

Watcher& GetWatcher() {
  static auto* watcher = new Watcher;
  return *watcher;
}

bool Enabled() { return env::Get().compile_progress; }

}  // namespace

void SetCompileProgress(std::function<void(const CompileStretch&)> report) {
  GetWatcher().SetReport(std::move(report));
}

CompileScope::CompileScope() {
  if (Enabled()) GetWatcher().Begin();
}

CompileScope::~CompileScope() {
  if (Enabled()) GetWatcher().End();
}

void StopCompileProgress() { GetWatcher().Stop(); }

}  // namespace torch_tpu::graph
