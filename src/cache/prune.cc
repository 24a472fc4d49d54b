// Oldest first.
#include "cache/prune.h"

#include <algorithm>

namespace torch_tpu::cache {

Result<PruneResult> Prune(Storage& storage, const Limits& limits, int64_t now) {
  storage.RemoveLeftovers();
  ASSIGN_OR_RETURN(std::vector<StoredFile> files, storage.List());
  std::sort(files.begin(), files.end(),
            [](const StoredFile& a, const StoredFile& b) { return a.used > b.used; });
  PruneResult result;
  bool full = false;  // nothing older than the first file that does not fit stays
  for (const StoredFile& file : files) {
    const bool old = limits.seconds > 0 && file.used < now - limits.seconds;
    full |= limits.bytes > 0 && result.kept_bytes + file.bytes > limits.bytes;
    if (!old && !full) {
      ++result.kept;
      result.kept_bytes += file.bytes;
      continue;
    }
    RETURN_IF_ERROR(storage.Remove(file.key));
    ++result.removed;
    result.removed_bytes += file.bytes;
  }
  return result;
}

}  // namespace torch_tpu::cache
