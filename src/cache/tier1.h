// Tier 1 of the program cache: in this process, always on, least recently used out first.
//
// Thread-safe. Requests for one key share one compile: later ones wait for the first. A failed
// compile is given to everybody who waited and is not kept. An evicted program lives on while
// somebody still holds it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/status.h"
#include "cache/key.h"

namespace torch_tpu::cache {

struct Tier1Stats {
  int64_t hits = 0, misses = 0, evictions = 0;
  int64_t entries = 0, bytes = 0;
};

// T needs `int64_t cache_bytes() const` and `uint64_t last_used() const` (any growing clock).
template <typename T>
class Tier1 {
 public:
  explicit Tier1(int64_t byte_cap) : byte_cap_(byte_cap) {}

  using Compile = std::function<Result<std::shared_ptr<T>>()>;

  Result<std::shared_ptr<T>> GetOrCompile(const Key& key, const Compile& compile) {
    std::unique_lock lock(mutex_);
    auto [it, mine] = slots_.try_emplace(key);
    if (!mine) {
      std::shared_ptr<Slot> slot = it->second;
      slot->done_cv.wait(lock, [&] { return slot->done; });
      ++stats_.hits;
      if (!slot->status.ok()) return slot->status;
      return slot->value;
    }
    std::shared_ptr<Slot> slot = it->second = std::make_shared<Slot>();
    ++stats_.misses;
    lock.unlock();
    auto made = compile();
    lock.lock();
    slot->done = true;
    slot->status = made.status();
    if (made.ok()) {
      slot->value = *made;
      stats_.bytes += slot->value->cache_bytes();
      Evict(slot.get());
    } else {
      slots_.erase(key);
    }
    slot->done_cv.notify_all();
    return made;
  }

  void SetByteCap(int64_t bytes) {
    std::lock_guard lock(mutex_);
    byte_cap_ = bytes;
    Evict(nullptr);
  }

  // At most so many programs, however small. Unlimited until called.
  void SetEntryCap(int64_t entries) {
    std::lock_guard lock(mutex_);
    entry_cap_ = entries;
    Evict(nullptr);
  }

  // Forgets every program that is not being compiled.
  void Clear() {
    std::lock_guard lock(mutex_);
    for (auto it = slots_.begin(); it != slots_.end();) {
      it = it->second->done ? Drop(it) : std::next(it);
    }
  }

  Tier1Stats stats() const {
    std::lock_guard lock(mutex_);
    Tier1Stats s = stats_;
    s.entries = static_cast<int64_t>(slots_.size());
    return s;
  }

 private:
  struct Slot {
    bool done = false;
    Status status;
    std::shared_ptr<T> value;
    std::condition_variable done_cv;
  };
  using Slots = std::unordered_map<Key, std::shared_ptr<Slot>, KeyHash>;

  typename Slots::iterator Drop(typename Slots::iterator it) {
    stats_.bytes -= it->second->value->cache_bytes();
    ++stats_.evictions;
    return slots_.erase(it);
  }

  void Evict(const Slot* keep) {
    while (stats_.bytes > byte_cap_ || static_cast<int64_t>(slots_.size()) > entry_cap_) {
      auto oldest = slots_.end();
      for (auto it = slots_.begin(); it != slots_.end(); ++it) {
        if (!it->second->done || it->second.get() == keep) continue;
        if (oldest == slots_.end() ||
            it->second->value->last_used() < oldest->second->value->last_used()) {
          oldest = it;
        }
      }
      if (oldest == slots_.end()) return;
      Drop(oldest);
    }
  }

  mutable std::mutex mutex_;
  int64_t byte_cap_;
  int64_t entry_cap_ = std::numeric_limits<int64_t>::max();
  Slots slots_;
  Tier1Stats stats_;
};

}  // namespace torch_tpu::cache
