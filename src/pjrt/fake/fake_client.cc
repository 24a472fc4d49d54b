// The fake plugin's client: its device and memories, compilation, and transfers to the device.
#include <cstring>
#include <string>

#include "pjrt/fake/fake_runtime.h"
#include "pjrt/fake/fake_slots.h"

namespace torch_tpu::pjrt::fake {
namespace {

constexpr std::string_view kPlatform = "fake";
constexpr std::string_view kVersion = "fake 1";
constexpr std::string_view kSerializedMagic = "torch_tpu fake executable\n";

PJRT_DeviceDescription* ToDescription(PJRT_Device* device) {
  return reinterpret_cast<PJRT_DeviceDescription*>(device);
}
PJRT_Device* FromDescription(PJRT_DeviceDescription* description) {
  return reinterpret_cast<PJRT_Device*>(description);
}

PJRT_Error* ClientCreate(PJRT_Client_Create_Args* args) {
  // Like the GPU plugin, and unlike old CPU plugins: an option that it does not know is an error.
  if (args->num_options > 0) {
    const PJRT_NamedValue& option = args->create_options[0];
    return MakeError(PJRT_Error_Code_INVALID_ARGUMENT,
                     "unknown create option " + std::string(option.name, option.name_size));
  }
  args->client = new PJRT_Client;
  return nullptr;
}

PJRT_Error* ClientDestroy(PJRT_Client_Destroy_Args* args) {
  delete args->client;
  return nullptr;
}

PJRT_Error* ClientPlatformName(PJRT_Client_PlatformName_Args* args) {
  args->platform_name = kPlatform.data();
  args->platform_name_size = kPlatform.size();
  return nullptr;
}

PJRT_Error* ClientPlatformVersion(PJRT_Client_PlatformVersion_Args* args) {
  args->platform_version = kVersion.data();
  args->platform_version_size = kVersion.size();
  return nullptr;
}

PJRT_Error* ClientAddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  args->addressable_devices = args->client->devices;
  args->num_addressable_devices = 1;
  return nullptr;
}

PJRT_Error* ClientDevices(PJRT_Client_Devices_Args* args) {
  args->devices = args->client->devices;
  args->num_devices = 1;
  return nullptr;
}

PJRT_Error* DeviceGetDescription(PJRT_Device_GetDescription_Args* args) {
  args->device_description = ToDescription(args->device);
  return nullptr;
}

PJRT_Error* DescriptionKind(PJRT_DeviceDescription_Kind_Args* args) {
  const std::string& kind = FromDescription(args->device_description)->kind;
  args->device_kind = kind.data();
  args->device_kind_size = kind.size();
  return nullptr;
}

PJRT_Error* DescriptionDebugString(PJRT_DeviceDescription_DebugString_Args* args) {
  const std::string& text = FromDescription(args->device_description)->debug_string;
  args->debug_string = text.data();
  args->debug_string_size = text.size();
  return nullptr;
}

PJRT_Error* DescriptionId(PJRT_DeviceDescription_Id_Args* args) {
  args->id = 0;
  return nullptr;
}

PJRT_Error* DeviceAddressableMemories(PJRT_Device_AddressableMemories_Args* args) {
  args->memories = args->device->client->memory_list;
  args->num_memories = 2;
  return nullptr;
}

PJRT_Error* DeviceMemoryStats(PJRT_Device_MemoryStats_Args* args) {
  const Controls& controls = GetControls();
  args->bytes_in_use = controls.live_bytes;
  args->peak_bytes_in_use = controls.peak_bytes;
  args->peak_bytes_in_use_is_set = true;
  args->bytes_limit = controls.memory_limit;
  args->bytes_limit_is_set = controls.memory_limit > 0;
  return nullptr;
}

PJRT_Error* MemoryKind(PJRT_Memory_Kind_Args* args) {
  args->kind = args->memory->kind.data();
  args->kind_size = args->memory->kind.size();
  return nullptr;
}

PJRT_Error* Load(PJRT_Client* client, std::string_view text, PJRT_LoadedExecutable** loaded) {
  auto program = std::make_shared<Program>();
  program->text = text;
  std::string problem;
  if (!ParseSignature(text, &program->signature, &problem)) {
    return MakeError(PJRT_Error_Code_INVALID_ARGUMENT, problem);
  }
  *loaded = new PJRT_LoadedExecutable;
  (*loaded)->client = client;
  (*loaded)->program = std::move(program);
  return nullptr;
}

PJRT_Error* ClientCompile(PJRT_Client_Compile_Args* args) {
  const std::string_view text(args->program->code, args->program->code_size);
  GetControls().SetLastCompile(text,
                               std::string_view(args->compile_options, args->compile_options_size));
  if (std::string_view(args->program->format, args->program->format_size) != "mlir") {
    return MakeError(PJRT_Error_Code_INVALID_ARGUMENT, "the program format must be mlir");
  }
  return Load(args->client, text, &args->executable);
}

PJRT_Error* ExecutableSerialize(PJRT_Executable_Serialize_Args* args) {
  auto* serialized = new PJRT_SerializedExecutable{std::string(kSerializedMagic) +
                                                   args->executable->program->text};
  args->serialized_executable = serialized;
  args->serialized_bytes = serialized->bytes.data();
  args->serialized_bytes_size = serialized->bytes.size();
  args->serialized_executable_deleter = [](PJRT_SerializedExecutable* s) { delete s; };
  return nullptr;
}

PJRT_Error* DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args* args) {
  const std::string_view bytes(args->serialized_executable, args->serialized_executable_size);
  if (bytes.substr(0, kSerializedMagic.size()) != kSerializedMagic) {
    return MakeError(PJRT_Error_Code_INVALID_ARGUMENT, "not a serialized executable");
  }
  return Load(args->client, bytes.substr(kSerializedMagic.size()), &args->loaded_executable);
}

PJRT_Error* BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  Type type{args->type, {args->dims, args->dims + args->num_dims}};
  if (args->num_byte_strides != 0 || args->device_layout != nullptr) {
    return MakeError(PJRT_Error_Code_UNIMPLEMENTED, "only dense row-major host buffers");
  }
  auto storage = Storage::Allocate(type.bytes());
  if (storage == nullptr) {
    return MakeError(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                     "out of memory allocating " + std::to_string(type.bytes()) + " bytes");
  }
  if (storage->size() > 0) std::memcpy(storage->data(), args->data, storage->size());
  auto* buffer = new PJRT_Buffer;
  buffer->type = std::move(type);
  buffer->client = args->client;
  buffer->memory = &args->client->memories[0];
  buffer->ready = Completed();
  buffer->bytes = std::move(storage);
  args->buffer = buffer;
  args->done_with_host_buffer = MakeEvent(Completed());
  return nullptr;
}

}  // namespace

void FillClientSlots(PJRT_Api* api) {
  FAKE_SLOT(api, PJRT_Client_Create, ClientCreate);
  FAKE_SLOT(api, PJRT_Client_Destroy, ClientDestroy);
  FAKE_SLOT(api, PJRT_Client_PlatformName, ClientPlatformName);
  FAKE_SLOT(api, PJRT_Client_PlatformVersion, ClientPlatformVersion);
  FAKE_SLOT(api, PJRT_Client_AddressableDevices, ClientAddressableDevices);
  FAKE_SLOT(api, PJRT_Client_Devices, ClientDevices);
  FAKE_SLOT(api, PJRT_Device_GetDescription, DeviceGetDescription);
  FAKE_SLOT(api, PJRT_DeviceDescription_Kind, DescriptionKind);
  FAKE_SLOT(api, PJRT_DeviceDescription_DebugString, DescriptionDebugString);
  FAKE_SLOT(api, PJRT_DeviceDescription_Id, DescriptionId);
  FAKE_SLOT(api, PJRT_Device_AddressableMemories, DeviceAddressableMemories);
  FAKE_SLOT(api, PJRT_Device_MemoryStats, DeviceMemoryStats);
  FAKE_SLOT(api, PJRT_Memory_Kind, MemoryKind);
  FAKE_SLOT(api, PJRT_Client_Compile, ClientCompile);
  FAKE_SLOT(api, PJRT_Executable_Serialize, ExecutableSerialize);
  FAKE_SLOT(api, PJRT_Executable_DeserializeAndLoad, DeserializeAndLoad);
  FAKE_SLOT(api, PJRT_Client_BufferFromHostBuffer, BufferFromHostBuffer);
}

}  // namespace torch_tpu::pjrt::fake
