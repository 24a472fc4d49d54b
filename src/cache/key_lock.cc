// POSIX record locks.
#include "cache/key_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace torch_tpu::cache {

Result<std::unique_ptr<KeyLocks>> KeyLocks::Open(const std::string& directory) {
  const std::string path = directory + "/locks";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return Status(StatusCode::kUnavailable, "opening " + path + ": " + std::strerror(errno));
  }
  return std::unique_ptr<KeyLocks>(new KeyLocks(fd));
}

KeyLocks::~KeyLocks() { close(fd_); }

bool KeyLocks::Set(const Key& key, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  // Keys that share a byte wait for each other without need, which happens once in 2^62.
  range.l_start = static_cast<off_t>(KeyHash()(key) >> 2);
  range.l_len = 1;
  int done;
  while ((done = fcntl(fd_, F_SETLK, &range)) != 0 && errno == EINTR) {
  }
  return done == 0;
}

bool KeyLocks::TryLock(const Key& key) { return Set(key, F_WRLCK); }

void KeyLocks::Unlock(const Key& key) { Set(key, F_UNLCK); }

}  // namespace torch_tpu::cache
