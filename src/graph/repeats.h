// Finds sequences that repeat in a stream of calls: the blocks of a network, the steps of a loop.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace torch_tpu::graph {

// Fed one hash a call, in program order; says where the stream should be cut so that equal blocks
// become equal regions. Amortised constant time a call. Not thread-safe.
//
// Memory grows with the stream: whoever feeds it calls Reset from time to time.
//
// A block is one period of a repetition, or as many of them as make a region worth sending. The
// first cut falls where the repetition begins. A block is cut off when the one after it is
// complete: until then names of the program that made it may still hold its intermediate results,
// and equal blocks would leave different results behind.
class Repeats {
 public:
  // Adds the next hash. Gives the positions (calls since the last Reset) at which to cut now,
  // ascending; usually none.
  const std::vector<int64_t>& Add(uint64_t hash);
  // Somebody else cut here, after the last call.
  void Cut() { last_cut_ = size(); }
  // Forgets everything; the next call is at position 0.
  void Reset();

  int64_t size() const { return static_cast<int64_t>(hashes_.size()); }
  int64_t period() const { return period_; }  // 0: nothing repeats now

 private:
  static constexpr int64_t kWindow = 8;          // equal calls in a row that suggest a repetition
  static constexpr int64_t kSmallestBlock = 12;  // calls

  uint64_t WindowHash();
  void Follow(int64_t at);
  void TryPeriod(int64_t at, int64_t period);

  std::vector<uint64_t> hashes_;
  std::unordered_map<uint64_t, int64_t> last_seen_;  // hash of a window to where it ended last
  uint64_t window_ = 0;
  int64_t period_ = 0;
  int64_t begin_ = 0;     // of the first copy
  int64_t last_cut_ = 0;  // everything before was cut off
  int64_t next_block_ = 0;
  std::vector<int64_t> cuts_;
};

}  // namespace torch_tpu::graph
