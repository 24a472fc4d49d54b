// One compiler a key among the processes of a host: locks that die with their owner.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "cache/key.h"

namespace torch_tpu::cache {

// Locks are ranges of one byte of a file, owned by the process: the kernel drops them however it
// ends, a forked child does not inherit them, and there is nothing to clean up. Two rules follow.
// Threads of one process do not exclude each other (tier 1 does that), and one process opens the
// locks of a directory once: closing any descriptor of the file would drop them all.
class KeyLocks {
 public:
  // The file `locks` in `directory`, which exists.
  static Result<std::unique_ptr<KeyLocks>> Open(const std::string& directory);
  ~KeyLocks();
  KeyLocks(const KeyLocks&) = delete;
  KeyLocks& operator=(const KeyLocks&) = delete;

  // False when another process holds it. Never waits.
  bool TryLock(const Key& key);
  void Unlock(const Key& key);

 private:
  explicit KeyLocks(int fd) : fd_(fd) {}
  bool Set(const Key& key, short type);
  int fd_;
};

}  // namespace torch_tpu::cache
