// The block list behind pin_memory().
#include "device/pinned.h"

#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <map>
#include <mutex>

namespace torch_tpu::device {
namespace {

struct Blocks {
  std::mutex mutex;
  std::map<const char*, size_t> size_of;  // by address
};

Blocks& GetBlocks() {
  static auto* blocks = new Blocks();
  return *blocks;
}

void Free(void* p) {
  {
    std::lock_guard lock(GetBlocks().mutex);
    GetBlocks().size_of.erase(static_cast<const char*>(p));
  }
  c10::GetCPUAllocator()->raw_deallocate(p);
}

class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* p = c10::GetCPUAllocator()->raw_allocate(bytes);
    if (p != nullptr) {
      std::lock_guard lock(GetBlocks().mutex);
      GetBlocks().size_of[static_cast<const char*>(p)] = bytes;
    }
    return {p, p, &Free, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }
  void copy_data(void* dst, const void* src, size_t bytes) const override {
    std::memcpy(dst, src, bytes);
  }
};

}  // namespace

c10::Allocator* PinnedAllocator() {
  static auto* allocator = new Allocator();
  return allocator;
}

bool IsPinned(const void* p) {
  Blocks& blocks = GetBlocks();
  std::lock_guard lock(blocks.mutex);
  auto it = blocks.size_of.upper_bound(static_cast<const char*>(p));
  if (it == blocks.size_of.begin()) return false;
  --it;
  return static_cast<const char*>(p) < it->first + it->second;
}

}  // namespace torch_tpu::device
