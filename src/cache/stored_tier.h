// One of the tiers that outlive the process: entries in a storage, counted and kept within limits.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cache/entry.h"
#include "cache/key_lock.h"
#include "cache/prune.h"
#include "cache/storage.h"

namespace torch_tpu::cache {

struct StoredTierStats {
  std::atomic<int64_t> hits{0}, misses{0}, writes{0};
  std::atomic<int64_t> rejected{0};  // corrupt, foreign or unloadable: removed and compiled anew
  std::atomic<int64_t> errors{0};    // the storage failed
  std::atomic<int64_t> read_bytes{0}, written_bytes{0};
  std::atomic<int64_t> pruned{0};
};

// An entry and the bytes that it points into.
struct FoundEntry {
  Blob blob;
  Entry entry;
};

// Thread-safe. No failure of the storage leaves this class: it is counted and logged once.
class StoredTier {
 public:
  // `locks` may be null: then nobody is asked to wait for another process.
  StoredTier(std::string name, std::shared_ptr<Storage> storage, Limits limits,
             std::unique_ptr<KeyLocks> locks = nullptr);

  const std::string& name() const { return name_; }  // "tier 2"
  Storage& storage() { return *storage_; }
  std::shared_ptr<Storage> shared_storage() const { return storage_; }
  KeyLocks* locks() { return locks_.get(); }
  const Limits& limits() const { return limits_; }
  StoredTierStats& stats() { return stats_; }

  // A whole entry of `key`; nothing when there is none. Counts no hit yet: the caller does when the
  // plugin takes it. `quiet` counts no miss either, for looking again.
  std::optional<FoundEntry> Read(const Key& key, bool quiet = false);
  void CountHit(const FoundEntry& found);
  // How long to wait for a slow storage before something else is begun: not at all once it was
  // slower than that, until it is fast again.
  std::chrono::milliseconds grace() const;
  // The entry is of no use: it is removed.
  void Reject(const Key& key, const std::string& why);
  // Replaces the entry of `key`. Prunes now and then.
  void Write(const Key& key, std::string_view bytes);

 private:
  void CountError(const Status& status);

  static constexpr std::chrono::milliseconds kGrace{50};
  const std::string name_;
  const std::shared_ptr<Storage> storage_;
  const Limits limits_;
  const std::unique_ptr<KeyLocks> locks_;
  StoredTierStats stats_;
  std::atomic<int> reading_{0};          // reads that have not ended
  std::atomic<bool> was_fast_{true};     // the last one that ended
  std::atomic<int64_t> until_prune_{0};  // bytes that may be written before the next one
};

}  // namespace torch_tpu::cache
