// The fake plugin's topologies "fake:<devices>" and compilation without a client. A module whose
// text says fake.abort or fake.hang makes the compiler do so, for tests of processes that survive
// it.
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "pjrt/fake/fake_runtime.h"
#include "pjrt/fake/fake_slots.h"
#include "pjrt/proto_writer.h"

struct PJRT_TopologyDescription {
  std::vector<PJRT_Device> devices;
  std::vector<PJRT_DeviceDescription*> descriptions;
};

namespace torch_tpu::pjrt::fake {
namespace {

constexpr std::string_view kPlatform = "fake";
constexpr int64_t kMemoryLimit = 1 << 20;

PJRT_Error* TopologyCreate(PJRT_TopologyDescription_Create_Args* args) {
  std::string_view name(args->topology_name, args->topology_name_size);
  int devices = 0;
  const bool known = name.starts_with("fake:");
  if (known) {
    name.remove_prefix(5);
    std::from_chars(name.data(), name.data() + name.size(), devices);
  }
  if (devices < 1 || devices > 64) {
    return MakeError(PJRT_Error_Code_INVALID_ARGUMENT, "expected fake:1 to fake:64");
  }
  auto* topology = new PJRT_TopologyDescription;
  topology->devices.resize(static_cast<size_t>(devices));
  for (PJRT_Device& device : topology->devices) {
    topology->descriptions.push_back(reinterpret_cast<PJRT_DeviceDescription*>(&device));
  }
  args->topology = topology;
  return nullptr;
}

PJRT_Error* TopologyDestroy(PJRT_TopologyDescription_Destroy_Args* args) {
  delete args->topology;
  return nullptr;
}

PJRT_Error* TopologyPlatformName(PJRT_TopologyDescription_PlatformName_Args* args) {
  args->platform_name = kPlatform.data();
  args->platform_name_size = kPlatform.size();
  return nullptr;
}

PJRT_Error* TopologyDevices(PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
  args->descriptions = args->topology->descriptions.data();
  args->num_descriptions = args->topology->descriptions.size();
  return nullptr;
}

PJRT_Error* TopologyAttributes(PJRT_TopologyDescription_Attributes_Args* args) {
  static const PJRT_NamedValue* limit = [] {
    auto* value = new PJRT_NamedValue();
    value->struct_size = PJRT_NamedValue_STRUCT_SIZE;
    value->name = "device_memory_bytes_limit";
    value->name_size = std::strlen(value->name);
    value->type = PJRT_NamedValue_kInt64;
    value->int64_value = kMemoryLimit;
    value->value_size = 1;
    return value;
  }();
  args->attributes = limit;
  args->num_attributes = 1;
  return nullptr;
}

PJRT_Error* Compile(PJRT_Compile_Args* args) {
  const std::string_view text(args->program->code, args->program->code_size);
  GetControls().SetLastCompile(text,
                               std::string_view(args->compile_options, args->compile_options_size));
  if (text.find("fake.abort") != std::string_view::npos) {
    constexpr std::string_view kLast = "Check failed: fake.abort\n";
    (void)!write(STDERR_FILENO, kLast.data(), kLast.size());
    std::abort();
  }
  while (text.find("fake.hang") != std::string_view::npos) pause();
  auto program = std::make_shared<Program>();
  program->text = text;
  std::string problem;
  if (!ParseSignature(text, &program->signature, &problem)) {
    return MakeError(PJRT_Error_Code_INVALID_ARGUMENT, problem);
  }
  args->executable = new PJRT_Executable{std::move(program), "fake"};
  return nullptr;
}

PJRT_Error* CodeSize(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
  args->size_in_bytes = static_cast<int64_t>(args->executable->program->text.size());
  return nullptr;
}

// An HloModuleProto with one parameter f32[4] and a copy of it that is the result.
std::string OptimizedModule() {
  ProtoWriter shape;
  shape.Varint(2, 11);  // F32
  shape.Varint(3, 4);
  ProtoWriter metadata;
  metadata.Bytes(2, "aten::clone");
  metadata.Bytes(3, "model.py");
  metadata.Varint(4, 7);
  ProtoWriter parameter;
  parameter.Bytes(1, "p");
  parameter.Bytes(2, "parameter");
  parameter.Bytes(3, shape.bytes());
  parameter.Varint(35, 1);
  ProtoWriter copy;
  copy.Bytes(1, "copy.1");
  copy.Bytes(2, "copy");
  copy.Bytes(3, shape.bytes());
  copy.Bytes(7, metadata.bytes());
  copy.Varint(35, 2);
  copy.Varint(36, 1);
  copy.Bytes(43, R"({"window_config":{"estimated_cycles":"25"}})");
  ProtoWriter main;
  main.Bytes(1, "main");
  main.Bytes(2, parameter.bytes());
  main.Bytes(2, copy.bytes());
  main.Varint(5, 1);
  main.Varint(6, 2);
  ProtoWriter module;
  module.Bytes(1, "fake_module");
  module.Bytes(3, main.bytes());
  module.Varint(6, 1);
  return module.bytes();
}

PJRT_Error* OptimizedProgram(PJRT_Executable_OptimizedProgram_Args* args) {
  const std::string bytes = OptimizedModule();
  constexpr std::string_view kFormat = "hlo";
  args->program->format = kFormat.data();
  args->program->format_size = kFormat.size();
  args->program->code_size = bytes.size();
  if (args->program->code != nullptr) std::memcpy(args->program->code, bytes.data(), bytes.size());
  return nullptr;
}

}  // namespace

void FillTopologySlots(PJRT_Api* api) {
  FAKE_SLOT(api, PJRT_TopologyDescription_Create, TopologyCreate);
  FAKE_SLOT(api, PJRT_TopologyDescription_Destroy, TopologyDestroy);
  FAKE_SLOT(api, PJRT_TopologyDescription_PlatformName, TopologyPlatformName);
  FAKE_SLOT(api, PJRT_TopologyDescription_GetDeviceDescriptions, TopologyDevices);
  FAKE_SLOT(api, PJRT_TopologyDescription_Attributes, TopologyAttributes);
  FAKE_SLOT(api, PJRT_Compile, Compile);
  FAKE_SLOT(api, PJRT_Executable_SizeOfGeneratedCodeInBytes, CodeSize);
  FAKE_SLOT(api, PJRT_Executable_OptimizedProgram, OptimizedProgram);
}

}  // namespace torch_tpu::pjrt::fake
