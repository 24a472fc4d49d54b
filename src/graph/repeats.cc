// A rolling hash over the last calls, and the period that it suggests.
#include "graph/repeats.h"

#include <algorithm>

namespace torch_tpu::graph {
namespace {

constexpr uint64_t kBase = 0x9E3779B97F4A7C15ull;

constexpr uint64_t Power(uint64_t base, int64_t exponent) {
  uint64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

}  // namespace

void Repeats::Reset() {
  hashes_.clear();
  last_seen_.clear();
  window_ = 0;
  period_ = begin_ = last_cut_ = next_block_ = 0;
}

uint64_t Repeats::WindowHash() {
  constexpr uint64_t kLeaving = Power(kBase, kWindow);
  const int64_t at = size() - 1;
  window_ = window_ * kBase + hashes_[at];
  if (at >= kWindow) window_ -= hashes_[at - kWindow] * kLeaving;
  return window_;
}

void Repeats::Follow(int64_t at) {
  if (period_ != 0 && hashes_[at] != hashes_[at - period_]) period_ = 0;
}

// Takes up a repetition whose calls so far fill at least a window.
void Repeats::TryPeriod(int64_t at, int64_t period) {
  if (hashes_[at] != hashes_[at - period]) return;  // the windows only hash alike
  int64_t first = at;  // of the calls that equal those a period earlier
  const int64_t earliest = std::max(last_cut_ + period, at - 2 * period - kWindow);
  while (first - 1 >= earliest && hashes_[first - 1] == hashes_[first - 1 - period]) --first;
  if (first - period < last_cut_) return;
  period_ = period;
  begin_ = next_block_ = first - period;
}

const std::vector<int64_t>& Repeats::Add(uint64_t hash) {
  cuts_.clear();
  const int64_t at = size();
  hashes_.push_back(hash);
  Follow(at);
  const uint64_t window = WindowHash();
  if (at + 1 < kWindow) return cuts_;
  auto [seen, is_new] = last_seen_.try_emplace(window, at);
  if (!is_new) {
    const int64_t period = at - seen->second;
    seen->second = at;
    if (period_ == 0 || period < period_) TryPeriod(at, period);
  }
  if (period_ == 0) return cuts_;
  const int64_t block = (kSmallestBlock + period_ - 1) / period_ * period_;
  while (at + 1 >= next_block_ + 2 * block) {
    if (next_block_ > last_cut_) cuts_.push_back(next_block_);
    next_block_ += block;
    cuts_.push_back(next_block_);
    last_cut_ = next_block_;
  }
  return cuts_;
}

}  // namespace torch_tpu::graph
