// Where tiers 2 and 3 keep their entries: a place of named byte strings.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cache/key.h"

namespace torch_tpu::cache {

// Read-only bytes and whatever keeps them alive.
struct Blob {
  std::string_view bytes;
  std::shared_ptr<const void> owner;

  static Blob Of(std::string text) {
    auto owned = std::make_shared<const std::string>(std::move(text));
    return {*owned, owned};
  }
};

struct StoredFile {
  Key key;
  int64_t bytes = 0;
  int64_t used = 0;  // Unix time of the last write or use, to within an hour
};

// Entries larger than this are neither written nor read.
inline constexpr int64_t kMaxEntryBytes = int64_t{1} << 31;

// Thread-safe. Several processes may use one place at once: Write replaces an entry as a whole, and
// a reader sees the old one, the new one or none.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual std::string description() const = 0;  // the path or URL
  // Whether a call may take longer than a file of a local disk.
  virtual bool is_slow() const = 0;
  // NOT_FOUND when there is no such entry.
  virtual Result<Blob> Read(const Key& key) = 0;
  virtual Status Write(const Key& key, std::string_view bytes) = 0;
  virtual Status Remove(const Key& key) = 0;
  virtual Result<std::vector<StoredFile>> List() = 0;
  // Removes what writers that died have left behind.
  virtual void RemoveLeftovers() {}
  // Makes calls that wait in other threads return soon. Later calls fail.
  virtual void Close() {}
};

}  // namespace torch_tpu::cache
