// Host memory that counts as pinned: copies from it to the device are asynchronous.
#pragma once

#include <c10/core/Allocator.h>

namespace torch_tpu::device {

// Allocates through the CPU allocator and remembers the blocks. Never freed before the process
// ends.
c10::Allocator* PinnedAllocator();
// True for any address inside a live block of PinnedAllocator.
bool IsPinned(const void* p);

}  // namespace torch_tpu::device
