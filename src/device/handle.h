// Handle: what a storage's DataPtr points at. Mutable, holds one immutable value; in-place writes
// replace the value, so every view and every borrowed pointer sees them.
#pragma once

#include <ATen/core/TensorBase.h>
#include <c10/core/Allocator.h>
#include <c10/core/ScalarType.h>

#include <atomic>
#include <cstdint>

#include "graph/value.h"

namespace torch_tpu::device {

using graph::ValueRef;

class Handle {
 public:
  explicit Handle(ValueRef value) : value_(std::move(value)) {}

  // The value now. Safe against a concurrent Set.
  ValueRef Get() const {
    Lock lock(flag_);
    return value_;
  }
  void Set(ValueRef value) {
    Lock lock(flag_);
    std::swap(value_, value);
  }

 private:
  struct Lock {
    explicit Lock(std::atomic_flag& f) : flag(f) {
      while (flag.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { flag.clear(std::memory_order_release); }
    std::atomic_flag& flag;
  };
  mutable std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
  ValueRef value_;
};

// A DataPtr for a new handle. Its address is unique among live handles, lies in a range that faults
// on any access (a host access to device data is a bug that must not go unnoticed), and is what
// tells a device pointer from a host one.
c10::DataPtr MakeDataPtr(ValueRef value);
bool IsDevicePointer(const void* p);
// The allocator registered for the device; storages made by anybody name it.
c10::Allocator* GetAllocator();

// The deleter of MakeDataPtr: tells our own DataPtrs from borrowed ones.
void DeleteHandle(void* context);
// The live handle at a device address (from_blob and the like borrow addresses). Raises when none
// is there.
Handle& HandleAt(const void* address);

// The handle under a storage of this device.
inline Handle& HandleOf(const c10::StorageImpl& storage) {
  const c10::DataPtr& data = storage.data_ptr();
  if (data.get_deleter() == &DeleteHandle) return *static_cast<Handle*>(data.get_context());
  return HandleAt(data.get());
}
inline Handle& HandleOf(const c10::TensorImpl& tensor) {
  return HandleOf(*tensor.unsafe_storage().unsafeGetStorageImpl());
}
inline Handle& HandleOf(const at::TensorBase& tensor) {
  return HandleOf(*tensor.unsafeGetTensorImpl());
}

// kInvalid for types that this device does not have (quantised, complex32, bits).
DType ToDType(c10::ScalarType type);
// As above, but raises a TypeError that names the dtype.
DType CheckedDType(c10::ScalarType type);
c10::ScalarType ToScalarType(DType dtype);

// A tensor over `value`, whose type holds the elements in memory order; sizes and strides as given.
at::Tensor MakeTensor(ValueRef value, c10::ScalarType dtype, c10::IntArrayRef sizes,
                      c10::IntArrayRef strides);
// A tensor with undefined contents (zeros) and any strides.
at::Tensor MakeEmpty(c10::ScalarType dtype, c10::IntArrayRef sizes, c10::IntArrayRef strides);
// A splat of `count` elements of `dtype`, as the base of a storage.
ValueRef UndefinedValue(DType dtype, const Dims& dims);

// Grows or shrinks a storage, keeping the elements that fit.
void ResizeStorage(c10::StorageImpl* storage, size_t nbytes);

}  // namespace torch_tpu::device
