// An array in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/dtype.h"
#include "base/status.h"
#include "pjrt/event.h"

struct PJRT_Buffer;

namespace torch_tpu::pjrt {

class Client;

// A device buffer. Immutable contents; deleted by the plugin when donated to an execution. Any call
// on an empty Buffer but operator bool, raw, IsDeleted (true), Delete and destruction fails with
// FAILED_PRECONDITION.
class Buffer {
 public:
  Buffer() = default;
  // Takes ownership of `buffer`, which may be null.
  Buffer(std::shared_ptr<const Client> client, PJRT_Buffer* buffer) noexcept;
  ~Buffer();
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;

  explicit operator bool() const { return buffer_ != nullptr; }
  PJRT_Buffer* raw() const { return buffer_; }

  // UNIMPLEMENTED for element types that DType does not know.
  Result<DType> dtype() const;
  // Sizes; of a bounded dynamic dimension its bound.
  Result<Dims> dims() const;
  Result<int64_t> OnDeviceBytes() const;
  // True after Delete and after a donation.
  bool IsDeleted() const;
  // The event that completes when the contents are computed (or carries why they never will be).
  Result<Event> ReadyEvent() const;
  Status Await() const;
  // Copies to `dst` (dense row-major, `bytes` long) and returns the event of the copy. `dst` must
  // live until then. INVALID_ARGUMENT when `bytes` is not the size of the array.
  Result<Event> ToHost(void* dst, int64_t bytes) const;
  // Copy to another memory kind of the same device ("pinned_host", "device").
  Result<Buffer> CopyToMemory(std::string_view memory_kind) const;
  // Frees the device memory now; later reads fail.
  void Delete();

 private:
  Status CheckNotEmpty() const;

  std::shared_ptr<const Client> client_;
  PJRT_Buffer* buffer_ = nullptr;
};

}  // namespace torch_tpu::pjrt
