// Sends regions to the device: at once when their program is known and their operands are there,
// else from a pool of threads that compile.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "graph/region.h"

namespace torch_tpu::graph {

// One a process. Thread-safe. Regions are launched as soon as their operands are known, in whatever
// order their compiles end: pure work commutes. Requests for one program share one compile.
class Sender {
 public:
  static Sender& Get();

  // Sees to it that the region's values become buffers or errors. Blocks for neither a compile nor
  // the device.
  void Send(std::shared_ptr<Region> region);
  // Waits until everything sent before was launched or failed. The first failure since the last
  // call of Drain, whose values nobody may have read.
  Status Drain();
  // Drain need not tell what was told already.
  void ForgetFailure(const Status& told);
  bool idle();
  // Ends the threads after the compiles that they are in; what waits is given up. For the end of
  // the process. Regions sent later are compiled where they are sent.
  void Stop();

 private:
  struct Slot {
    std::weak_ptr<Program> program;  // tier 1 may drop it
    bool compiling = false;
    std::vector<std::shared_ptr<Region>> waiting;
  };
  using RegionPtr = std::shared_ptr<Region>;

  Sender() = default;
  void Work();
  void Compile(const RegionPtr& region);
  // Launches, then whatever that made possible.
  void Launch(RegionPtr region);
  Status LaunchNow(Region& region);
  Status OneByOne(Region& region);
  static Status RunCall(Runtime& runtime, const DeferredCall& call, InFlight& in_flight);
  void StartThreads();

  std::mutex mutex_;
  std::condition_variable work_cv_, idle_cv_;
  std::unordered_map<cache::Key, Slot, cache::KeyHash> slots_;
  std::deque<RegionPtr> to_compile_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
  int unfinished_ = 0;
  static constexpr size_t kMostUntold = 64;
  std::vector<Status> untold_;  // failures, oldest first
};

}  // namespace torch_tpu::graph
