// Reading, writing and pruning, with every failure swallowed and counted.
#include "cache/stored_tier.h"

#include <algorithm>
#include <ctime>

#include "base/log.h"
#include "cache/key_name.h"

namespace torch_tpu::cache {

StoredTier::StoredTier(std::string name, std::shared_ptr<Storage> storage, Limits limits,
                       std::unique_ptr<KeyLocks> locks)
    : name_(std::move(name)),
      storage_(std::move(storage)),
      limits_(limits),
      locks_(std::move(locks)) {}

void StoredTier::CountError(const Status& status) {
  const bool first = stats_.errors.fetch_add(1) == 0;
  Log(first ? LogLevel::kWarning : LogLevel::kDebug,
      "program cache, " + name_ + " at " + storage_->description() + ": " + status.message());
}

std::optional<FoundEntry> StoredTier::Read(const Key& key, bool quiet) {
  const auto start = std::chrono::steady_clock::now();
  reading_.fetch_add(1);
  auto blob = storage_->Read(key);
  reading_.fetch_sub(1);
  was_fast_.store(std::chrono::steady_clock::now() - start < kGrace);
  if (blob.ok()) {
    auto entry = DecodeEntry(blob->bytes, key);
    if (entry.ok()) return FoundEntry{std::move(blob).value(), std::move(entry).value()};
    Reject(key, entry.status().message());
  } else if (blob.status().code() != StatusCode::kNotFound) {
    CountError(blob.status());
  }
  if (!quiet) stats_.misses.fetch_add(1);
  return std::nullopt;
}

std::chrono::milliseconds StoredTier::grace() const {
  constexpr int kMany = 4;  // as many as there are threads: the storage does not answer
  return was_fast_.load() && reading_.load() < kMany ? kGrace : std::chrono::milliseconds{0};
}

void StoredTier::CountHit(const FoundEntry& found) {
  stats_.hits.fetch_add(1);
  stats_.read_bytes.fetch_add(static_cast<int64_t>(found.blob.bytes.size()));
}

void StoredTier::Reject(const Key& key, const std::string& why) {
  stats_.rejected.fetch_add(1);
  Log(LogLevel::kInfo,
      "program cache, " + name_ + ": " + KeyName(key) + " is compiled anew: " + why);
  (void)storage_->Remove(key);
}

void StoredTier::Write(const Key& key, std::string_view bytes) {
  const Status status = storage_->Write(key, bytes);
  if (!status.ok()) return CountError(status);
  const auto size = static_cast<int64_t>(bytes.size());
  stats_.writes.fetch_add(1);
  stats_.written_bytes.fetch_add(size);
  // The first write prunes, and then each that could have filled a sixteenth of the room.
  if (until_prune_.fetch_sub(size) > 0) return;
  const auto pruned = Prune(*storage_, limits_, time(nullptr));
  const int64_t room = limits_.bytes > 0 ? limits_.bytes / 16 : kMaxEntryBytes;
  if (!pruned.ok()) {
    until_prune_.store(room);
    return CountError(pruned.status());
  }
  stats_.pruned.fetch_add(pruned->removed);
  const int64_t left = limits_.bytes > 0 ? limits_.bytes - pruned->kept_bytes : room;
  until_prune_.store(std::clamp<int64_t>(left, 1, room));
}

}  // namespace torch_tpu::cache
