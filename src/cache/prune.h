// Removing stored programs by age and by size.
#pragma once

#include <cstdint>

#include "cache/storage.h"

namespace torch_tpu::cache {

struct Limits {
  int64_t bytes = 0;    // 0: no limit
  int64_t seconds = 0;  // since the last use; 0: no limit
};

struct PruneResult {
  int64_t removed = 0, removed_bytes = 0;
  int64_t kept = 0, kept_bytes = 0;
};

// Removes what was not used within `limits.seconds` before `now` (Unix time), then the least
// recently used until at most `limits.bytes` are left, and what dead writers left behind.
Result<PruneResult> Prune(Storage& storage, const Limits& limits, int64_t now);

}  // namespace torch_tpu::cache
