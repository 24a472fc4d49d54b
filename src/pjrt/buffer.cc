// Queries and transfers of device buffers.
#include "pjrt/buffer.h"

#include <array>
#include <string>
#include <utility>

#include "pjrt/api_call.h"
#include "pjrt/client.h"
#include "pjrt/plugin.h"

namespace torch_tpu::pjrt {
namespace {

// Dense row-major order for any rank; the common ranks need no allocation.
class RowMajorLayout {
 public:
  explicit RowMajorLayout(size_t rank) {
    int64_t* order = small_.data();
    if (rank > small_.size()) {
      large_.resize(rank);
      order = large_.data();
    }
    for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(rank - 1 - i);
    layout_ = MakeArgs<PJRT_Buffer_MemoryLayout>(PJRT_Buffer_MemoryLayout_STRUCT_SIZE);
    layout_.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
    layout_.tiled =
        MakeArgs<PJRT_Buffer_MemoryLayout_Tiled>(PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE);
    layout_.tiled.minor_to_major = order;
    layout_.tiled.minor_to_major_size = rank;
  }
  RowMajorLayout(const RowMajorLayout&) = delete;
  RowMajorLayout& operator=(const RowMajorLayout&) = delete;
  PJRT_Buffer_MemoryLayout* get() { return &layout_; }

 private:
  std::array<int64_t, 8> small_;
  std::vector<int64_t> large_;
  PJRT_Buffer_MemoryLayout layout_;
};

std::string MemoryKind(const PJRT_Api* api, PJRT_Memory* memory) {
  auto args = MakeArgs<PJRT_Memory_Kind_Args>(PJRT_Memory_Kind_Args_STRUCT_SIZE);
  args.memory = memory;
  if (!CallSlot(api, &PJRT_Api::PJRT_Memory_Kind, "PJRT_Memory_Kind", &args).ok()) return "";
  return std::string(args.kind, args.kind_size);
}

// The memory of the buffer's device that has `kind`.
Result<PJRT_Memory*> FindMemory(const PJRT_Api* api, PJRT_Buffer* buffer, std::string_view kind) {
  auto device = MakeArgs<PJRT_Buffer_Device_Args>(PJRT_Buffer_Device_Args_STRUCT_SIZE);
  device.buffer = buffer;
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_Buffer_Device, "PJRT_Buffer_Device", &device));
  auto memories = MakeArgs<PJRT_Device_AddressableMemories_Args>(
      PJRT_Device_AddressableMemories_Args_STRUCT_SIZE);
  memories.device = device.device;
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_Device_AddressableMemories,
                           "PJRT_Device_AddressableMemories", &memories));
  std::string kinds;
  for (size_t i = 0; i < memories.num_memories; ++i) {
    const std::string each = MemoryKind(api, memories.memories[i]);
    if (each == kind) return memories.memories[i];
    kinds += kinds.empty() ? each : ", " + each;
  }
  return InvalidArgument("memory kind '" + std::string(kind) +
                         "' does not exist on this device; it has: " + kinds);
}

}  // namespace

Buffer::Buffer(std::shared_ptr<const Client> client, PJRT_Buffer* buffer) noexcept
    : client_(std::move(client)), buffer_(buffer) {}

Buffer::~Buffer() {
  if (buffer_ == nullptr || IsShutDown()) return;
  const PJRT_Api* api = client_->plugin().api();
  auto args = MakeArgs<PJRT_Buffer_Destroy_Args>(PJRT_Buffer_Destroy_Args_STRUCT_SIZE);
  args.buffer = buffer_;
  (void)TakeError(api, api->PJRT_Buffer_Destroy(&args));
}

Buffer::Buffer(Buffer&& other) noexcept
    : client_(std::move(other.client_)), buffer_(std::exchange(other.buffer_, nullptr)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    Buffer old(std::move(*this));  // frees the memory now rather than with `other`
    client_ = std::move(other.client_);
    buffer_ = std::exchange(other.buffer_, nullptr);
  }
  return *this;
}

Status Buffer::CheckNotEmpty() const {
  return buffer_ == nullptr ? FailedPrecondition("the buffer is empty or was moved from")
                            : Status();
}

Result<DType> Buffer::dtype() const {
  RETURN_IF_ERROR(CheckNotEmpty());
  auto args = MakeArgs<PJRT_Buffer_ElementType_Args>(PJRT_Buffer_ElementType_Args_STRUCT_SIZE);
  args.buffer = buffer_;
  RETURN_IF_ERROR(CallSlot(client_->plugin().api(), &PJRT_Api::PJRT_Buffer_ElementType,
                           "PJRT_Buffer_ElementType", &args));
  if (const auto dtype = FromBufferType(args.type)) return *dtype;
  return Unimplemented("PJRT element type number " + std::to_string(args.type) +
                       " has no counterpart here");
}

Result<Dims> Buffer::dims() const {
  RETURN_IF_ERROR(CheckNotEmpty());
  auto args = MakeArgs<PJRT_Buffer_Dimensions_Args>(PJRT_Buffer_Dimensions_Args_STRUCT_SIZE);
  args.buffer = buffer_;
  RETURN_IF_ERROR(CallSlot(client_->plugin().api(), &PJRT_Api::PJRT_Buffer_Dimensions,
                           "PJRT_Buffer_Dimensions", &args));
  return Dims(args.dims, args.dims + args.num_dims);
}

Result<int64_t> Buffer::OnDeviceBytes() const {
  RETURN_IF_ERROR(CheckNotEmpty());
  auto args = MakeArgs<PJRT_Buffer_OnDeviceSizeInBytes_Args>(
      PJRT_Buffer_OnDeviceSizeInBytes_Args_STRUCT_SIZE);
  args.buffer = buffer_;
  RETURN_IF_ERROR(CallSlot(client_->plugin().api(), &PJRT_Api::PJRT_Buffer_OnDeviceSizeInBytes,
                           "PJRT_Buffer_OnDeviceSizeInBytes", &args));
  return static_cast<int64_t>(args.on_device_size_in_bytes);
}

bool Buffer::IsDeleted() const {
  if (buffer_ == nullptr) return true;
  auto args = MakeArgs<PJRT_Buffer_IsDeleted_Args>(PJRT_Buffer_IsDeleted_Args_STRUCT_SIZE);
  args.buffer = buffer_;
  const Status status = CallSlot(client_->plugin().api(), &PJRT_Api::PJRT_Buffer_IsDeleted,
                                 "PJRT_Buffer_IsDeleted", &args);
  return status.ok() && args.is_deleted;
}

Result<Event> Buffer::ReadyEvent() const {
  RETURN_IF_ERROR(CheckNotEmpty());
  auto args = MakeArgs<PJRT_Buffer_ReadyEvent_Args>(PJRT_Buffer_ReadyEvent_Args_STRUCT_SIZE);
  args.buffer = buffer_;
  RETURN_IF_ERROR(CallSlot(client_->plugin().api(), &PJRT_Api::PJRT_Buffer_ReadyEvent,
                           "PJRT_Buffer_ReadyEvent", &args));
  return Event(client_->plugin_ptr(), args.event);
}

Status Buffer::Await() const {
  ASSIGN_OR_RETURN(const Event ready, ReadyEvent());
  return ready.Await();
}

Result<Event> Buffer::ToHost(void* dst, int64_t bytes) const {
  ASSIGN_OR_RETURN(const DType type, dtype());
  ASSIGN_OR_RETURN(const Dims sizes, dims());
  const int64_t expected = NumElements(sizes) * DTypeSize(type);
  if (bytes != expected) {
    return InvalidArgument("copy to host of " + std::string(DTypeName(type)) + DimsToString(sizes) +
                           ": expected a destination of " + std::to_string(expected) +
                           " bytes, got " + std::to_string(bytes));
  }
  // Plugins answer a null destination with the size alone, and an empty array has nothing to copy.
  if (expected == 0) return ReadyEvent();

  RowMajorLayout layout(sizes.size());
  auto args = MakeArgs<PJRT_Buffer_ToHostBuffer_Args>(PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE);
  args.src = buffer_;
  args.host_layout = layout.get();
  args.dst = dst;
  args.dst_size = static_cast<size_t>(bytes);
  RETURN_IF_ERROR(CallSlot(client_->plugin().api(), &PJRT_Api::PJRT_Buffer_ToHostBuffer,
                           "PJRT_Buffer_ToHostBuffer", &args));
  return Event(client_->plugin_ptr(), args.event);
}

Result<Buffer> Buffer::CopyToMemory(std::string_view memory_kind) const {
  RETURN_IF_ERROR(CheckNotEmpty());
  const PJRT_Api* api = client_->plugin().api();
  ASSIGN_OR_RETURN(PJRT_Memory * memory, FindMemory(api, buffer_, memory_kind));
  auto args = MakeArgs<PJRT_Buffer_CopyToMemory_Args>(PJRT_Buffer_CopyToMemory_Args_STRUCT_SIZE);
  args.buffer = buffer_;
  args.dst_memory = memory;
  RETURN_IF_ERROR(
      CallSlot(api, &PJRT_Api::PJRT_Buffer_CopyToMemory, "PJRT_Buffer_CopyToMemory", &args));
  return Buffer(client_, args.dst_buffer);
}

void Buffer::Delete() {
  if (buffer_ == nullptr) return;
  auto args = MakeArgs<PJRT_Buffer_Delete_Args>(PJRT_Buffer_Delete_Args_STRUCT_SIZE);
  args.buffer = buffer_;
  (void)CallSlot(client_->plugin().api(), &PJRT_Api::PJRT_Buffer_Delete, "PJRT_Buffer_Delete",
                 &args);
}

}  // namespace torch_tpu::pjrt
