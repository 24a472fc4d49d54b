// How often each operator took a detour through the host.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace torch_tpu::device {

// Thread-safe. Lives as long as the process: calls may come while it ends.
class UseCounts {
 public:
  // Counts one use; whether it is the first of this name.
  bool Add(const std::string& name) {
    std::lock_guard lock(mutex_);
    return uses_[name]++ == 0;
  }

  std::map<std::string, int64_t> Get() const {
    std::lock_guard lock(mutex_);
    return uses_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int64_t> uses_;
};

}  // namespace torch_tpu::device
