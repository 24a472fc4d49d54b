// Handles, their addresses, and tensors made over them.
#include "device/handle.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <sys/mman.h>

#include <mutex>
#include <vector>

#include "device/copy.h"
#include "device/errors.h"
#include "views/view.h"

namespace torch_tpu::device {
namespace {

// One 64-byte slot of reserved, inaccessible address space per live handle.
class Addresses {
 public:
  static Addresses& Get() {
    static auto* addresses = new Addresses();
    return *addresses;
  }

  void* Take(Handle* handle) {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      void* p = free_.back();
      free_.pop_back();
      handles_[Slot(p)] = handle;
      return p;
    }
    TORCH_CHECK(next_ + kSlot <= bytes_, "torch_tpu: too many live tensors");
    void* p = base_ + next_;
    next_ += kSlot;
    handles_.push_back(handle);
    return p;
  }

  void Return(void* p) {
    std::lock_guard lock(mutex_);
    handles_[Slot(p)] = nullptr;
    free_.push_back(static_cast<char*>(p));
  }

  // Null for an address that is no live handle's.
  Handle* Find(const void* p) {
    if (!Contains(p)) return nullptr;
    std::lock_guard lock(mutex_);
    const size_t slot = Slot(p);
    return slot < handles_.size() ? handles_[slot] : nullptr;
  }

  bool Contains(const void* p) const { return p >= base_ && p < base_ + bytes_; }

 private:
  static constexpr size_t kSlot = 64;

  size_t Slot(const void* p) const {
    return static_cast<size_t>(static_cast<const char*>(p) - base_) / kSlot;
  }

  // Where the address space is limited (ulimit -v, sanitizers) fewer tensors can be alive at once.
  Addresses() {
    for (bytes_ = size_t{1} << 36; bytes_ >= size_t{1} << 24; bytes_ >>= 2) {
      void* p =
          mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) continue;
      base_ = static_cast<char*>(p);
      return;
    }
    TORCH_CHECK(false, "torch_tpu: cannot reserve address space for device pointers");
  }

  std::mutex mutex_;
  char* base_ = nullptr;
  size_t bytes_ = 0;
  size_t next_ = 0;
  std::vector<char*> free_;
  std::vector<Handle*> handles_;  // by slot; null when free
};

// The DataPtr's data is the address slot, its context the handle, which remembers the slot.
struct AddressedHandle : Handle {
  explicit AddressedHandle(ValueRef value)
      : Handle(std::move(value)), address(Addresses::Get().Take(this)) {}
  ~AddressedHandle() { Addresses::Get().Return(address); }
  void* address;
};

constexpr c10::DispatchKeySet kKeys{c10::DispatchKey::PrivateUse1};

}  // namespace

void DeleteHandle(void* context) {
  delete static_cast<AddressedHandle*>(static_cast<Handle*>(context));
}

Handle& HandleAt(const void* address) {
  Handle* handle = Addresses::Get().Find(address);
  TORCH_CHECK(
      handle != nullptr,
      "this tensor's data pointer is not the start of a live tpu storage; device tpu has no raw "
      "memory that other code could have filled");
  return *handle;
}

c10::DataPtr MakeDataPtr(ValueRef value) {
  auto* handle = new AddressedHandle(std::move(value));
  return c10::DataPtr(handle->address, static_cast<Handle*>(handle), &DeleteHandle,
                      c10::Device(c10::DeviceType::PrivateUse1, 0));
}

bool IsDevicePointer(const void* p) { return Addresses::Get().Contains(p); }

DType ToDType(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Bool:
      return DType::kPred;
    case c10::ScalarType::Char:
      return DType::kS8;
    case c10::ScalarType::Short:
      return DType::kS16;
    case c10::ScalarType::Int:
      return DType::kS32;
    case c10::ScalarType::Long:
      return DType::kS64;
    case c10::ScalarType::Byte:
      return DType::kU8;
    case c10::ScalarType::UInt16:
      return DType::kU16;
    case c10::ScalarType::UInt32:
      return DType::kU32;
    case c10::ScalarType::UInt64:
      return DType::kU64;
    case c10::ScalarType::Half:
      return DType::kF16;
    case c10::ScalarType::BFloat16:
      return DType::kBF16;
    case c10::ScalarType::Float:
      return DType::kF32;
    case c10::ScalarType::Double:
      return DType::kF64;
    case c10::ScalarType::ComplexFloat:
      return DType::kC64;
    case c10::ScalarType::ComplexDouble:
      return DType::kC128;
    case c10::ScalarType::Float8_e4m3fn:
      return DType::kF8E4M3FN;
    case c10::ScalarType::Float8_e5m2:
      return DType::kF8E5M2;
    case c10::ScalarType::Float8_e4m3fnuz:
      return DType::kF8E4M3FNUZ;
    case c10::ScalarType::Float8_e5m2fnuz:
      return DType::kF8E5M2FNUZ;
    default:
      return DType::kInvalid;
  }
}

DType CheckedDType(c10::ScalarType type) {
  const DType dtype = ToDType(type);
  TORCH_CHECK_TYPE(dtype != DType::kInvalid, "device tpu has no tensors of dtype ", type,
                   "; convert to a supported dtype on the CPU first");
  return dtype;
}

c10::ScalarType ToScalarType(DType dtype) {
  switch (dtype) {
    case DType::kPred:
      return c10::ScalarType::Bool;
    case DType::kS8:
      return c10::ScalarType::Char;
    case DType::kS16:
      return c10::ScalarType::Short;
    case DType::kS32:
      return c10::ScalarType::Int;
    case DType::kS64:
      return c10::ScalarType::Long;
    case DType::kU8:
      return c10::ScalarType::Byte;
    case DType::kU16:
      return c10::ScalarType::UInt16;
    case DType::kU32:
      return c10::ScalarType::UInt32;
    case DType::kU64:
      return c10::ScalarType::UInt64;
    case DType::kF16:
      return c10::ScalarType::Half;
    case DType::kBF16:
      return c10::ScalarType::BFloat16;
    case DType::kF32:
      return c10::ScalarType::Float;
    case DType::kF64:
      return c10::ScalarType::Double;
    case DType::kC64:
      return c10::ScalarType::ComplexFloat;
    case DType::kC128:
      return c10::ScalarType::ComplexDouble;
    case DType::kF8E4M3FN:
      return c10::ScalarType::Float8_e4m3fn;
    case DType::kF8E5M2:
      return c10::ScalarType::Float8_e5m2;
    case DType::kF8E4M3FNUZ:
      return c10::ScalarType::Float8_e4m3fnuz;
    case DType::kF8E5M2FNUZ:
      return c10::ScalarType::Float8_e5m2fnuz;
    default:
      return c10::ScalarType::Undefined;
  }
}

ValueRef UndefinedValue(DType dtype, const Dims& dims) {
  return graph::Value::Splat(graph::InternType(dtype, dims), graph::ScalarBits{});
}

at::Tensor MakeTensor(ValueRef value, c10::ScalarType dtype, c10::IntArrayRef sizes,
                      c10::IntArrayRef strides) {
  const size_t nbytes = NumElements(value->type().dims) * DTypeSize(value->type().dtype);
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), nbytes, MakeDataPtr(std::move(value)), GetAllocator(),
      /*resizable=*/true);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), kKeys,
                                                         c10::scalarTypeToTypeMeta(dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

at::Tensor MakeEmpty(c10::ScalarType dtype, c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  const DType type = CheckedDType(dtype);
  for (int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  }
  Dims memory, order;
  if (!views::DenseOrder(sizes, strides, &memory, &order)) {
    const size_t bytes = at::detail::computeStorageNbytes(sizes, strides, DTypeSize(type));
    memory = {static_cast<int64_t>(bytes) / DTypeSize(type)};
  }
  CheckAllocation(memory, type);
  return MakeTensor(UndefinedValue(type, memory), dtype, sizes, strides);
}

void ResizeStorage(c10::StorageImpl* storage, size_t nbytes) {
  TORCH_CHECK(storage->resizable(), "Trying to resize storage that is not resizable");
  if (nbytes == storage->nbytes()) return;
  Handle& handle = HandleOf(*storage);
  handle.Set(ResizedValue(handle.Get(), static_cast<int64_t>(nbytes)));
  storage->set_nbytes(nbytes);
}

}  // namespace torch_tpu::device
