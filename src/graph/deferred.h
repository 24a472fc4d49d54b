// The recorder: where calls of the deferred mode wait until somebody needs what they compute.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/region.h"
#include "graph/repeats.h"

namespace torch_tpu::graph {

// One a process, because its threads share tensors and autograd runs on a thread of its own.
// Thread-safe. Calls are sent as regions
//  - when somebody needs a value (Require) or everything (Send, Drain);
//  - when blocks repeat (repeats.h);
//  - when many calls wait or their results would take much memory.
// What is sent is all that waits, or all up to a cut, less what nobody can ask for any more.
class Recorder {
 public:
  static Recorder& Get();

  // Records a call; appends a deferred value for each result. `operands` as spec->operands. An
  // operand that is an error fails the call.
  Status Append(const std::shared_ptr<const CallSpec>& spec, std::vector<OperandRef> operands,
                std::string python_line, InFlight& in_flight, std::vector<ValueRef>* results);
  // Sends everything that waits. Does not block.
  void Send();
  // Makes `value` a buffer, or gives the error that it became. Blocks for compiles, not for the
  // device. Values of other states are left as they are.
  Status Require(const Value& value);
  // Sends everything and waits until it is launched; the first failure.
  Status Drain();
  bool idle();

  // Keys of the regions sent since the last call, oldest first, for tests that compare processes.
  // Kept only after the first call.
  std::vector<cache::Key> TakeKeys();

 private:
  static constexpr size_t kMostCalls = 1024;
  static constexpr int64_t kMostBytes = int64_t{1} << 30;  // of live results that wait

  using Regions = std::vector<std::shared_ptr<Region>>;

  uint64_t HashOf(const CallSpec& spec, const std::vector<OperandRef>& operands) const;
  void CutAt(uint64_t number, Regions* out);
  void CutAll(Regions* out);
  int64_t LiveBytes() const;
  static void SendAll(Regions regions);

  std::mutex mutex_;
  std::deque<DeferredCall> calls_;  // consecutive numbers
  uint64_t first_ = 1;              // number of calls_.front(), or of the next call
  uint64_t repeats_base_ = 1;       // number at position 0 of repeats_
  Repeats repeats_;
  InFlight* in_flight_ = nullptr;  // of the calls that wait
  int64_t bytes_ = 0;              // of results recorded since bytes_ was last made exact
  bool keep_keys_ = false;
  std::vector<cache::Key> keys_;
};

}  // namespace torch_tpu::graph
