// The stored tiers of this process: which are on, and the threads that work for them.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "base/env.h"
#include "base/status.h"
#include "cache/stored_tier.h"
#include "cache/work_queue.h"

namespace torch_tpu::cache {

// The directory of tier 2 for these settings: TORCH_TPU_TIER2_COMPILATION_CACHE names it below a
// private folder in memory, or is an absolute path. Empty when the tier is off, which is the
// default unless WORLD_SIZE is above 1.
std::string Tier2Directory(const env::Settings& settings);

// Whether `root` needs the Python side: a URL other than file://.
bool IsUrl(const std::string& root);

// One a process, save in tests. Thread-safe.
class Tiers {
 public:
  Tiers() = default;  // both off
  // The one of the process, with what the environment asks for. A directory that cannot be used is
  // one warning, and the tier stays off. A URL is left to whoever calls SetTier3.
  static Tiers& Get();

  std::shared_ptr<StoredTier> tier2() const;  // null: off
  std::shared_ptr<StoredTier> tier3() const;
  // An empty path turns the tier off.
  Status SetTier2(const std::string& directory);
  Status SetTier3(const std::string& path);
  void SetTier3(std::shared_ptr<Storage> storage);
  // For plugins that cannot serialize: both off for good, with one line of log.
  void Disable(const std::string& why);

  WorkQueue& writers() { return writers_; }
  WorkQueue& readers() { return readers_; }
  WorkQueue& compilers() { return compilers_; }

  // Waits for writes that were begun; false after `limit`.
  bool Flush(std::chrono::milliseconds limit);
  // For the end of the process: waits at most `limit` for writes, then lets no thread go on.
  void Close(std::chrono::milliseconds limit);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<StoredTier> tier2_, tier3_;
  bool disabled_ = false;
  WorkQueue writers_{1};
  WorkQueue readers_{4, 64};
  WorkQueue compilers_{4};
};

}  // namespace torch_tpu::cache
