// Topologies and programs compiled for them.
#include "pjrt/compiled_program.h"

#include <utility>

#include "pjrt/api_call.h"
#include "pjrt/program_queries.h"
#include "pjrt/proto_writer.h"

namespace torch_tpu::pjrt {
namespace {

// Points into `options`, which must outlive the values.
std::vector<PJRT_NamedValue> NamedValues(const std::map<std::string, OptionValue>& options) {
  std::vector<PJRT_NamedValue> values;
  for (const auto& [name, option] : options) {
    PJRT_NamedValue value{};
    value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    value.name = name.data();
    value.name_size = name.size();
    value.value_size = 1;
    if (const auto* text = std::get_if<std::string>(&option)) {
      value.type = PJRT_NamedValue_kString;
      value.string_value = text->data();
      value.value_size = text->size();
    } else if (const auto* flag = std::get_if<bool>(&option)) {
      value.type = PJRT_NamedValue_kBool;
      value.bool_value = *flag;
    } else if (const auto* number = std::get_if<int64_t>(&option)) {
      value.type = PJRT_NamedValue_kInt64;
      value.int64_value = *number;
    } else {
      value.type = PJRT_NamedValue_kFloat;
      value.float_value = static_cast<float>(std::get<double>(option));
    }
    values.push_back(value);
  }
  return values;
}

std::map<std::string, std::string> Texts(const PJRT_NamedValue* values, size_t count) {
  std::map<std::string, std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    texts[std::string(values[i].name, values[i].name_size)] = NamedValueText(values[i]);
  }
  return texts;
}

TopologyDevice DescribeDevice(const PJRT_Api* api, PJRT_DeviceDescription* description) {
  TopologyDevice device;
  auto id = MakeArgs<PJRT_DeviceDescription_Id_Args>(PJRT_DeviceDescription_Id_Args_STRUCT_SIZE);
  id.device_description = description;
  if (CallSlot(api, &PJRT_Api::PJRT_DeviceDescription_Id, "PJRT_DeviceDescription_Id", &id).ok()) {
    device.id = id.id;
  }
  auto kind =
      MakeArgs<PJRT_DeviceDescription_Kind_Args>(PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE);
  kind.device_description = description;
  if (CallSlot(api, &PJRT_Api::PJRT_DeviceDescription_Kind, "PJRT_DeviceDescription_Kind", &kind)
          .ok()) {
    device.kind = std::string(kind.device_kind, kind.device_kind_size);
  }
  auto attributes = MakeArgs<PJRT_DeviceDescription_Attributes_Args>(
      PJRT_DeviceDescription_Attributes_Args_STRUCT_SIZE);
  attributes.device_description = description;
  if (CallSlot(api, &PJRT_Api::PJRT_DeviceDescription_Attributes,
               "PJRT_DeviceDescription_Attributes", &attributes)
          .ok()) {
    device.attributes = Texts(attributes.attributes, attributes.num_attributes);
  }
  return device;
}

// The compile options with the effort levels: a second occurrence of the embedded message, which
// protobuf merges with the first.
std::string SerializedOptions(const CompileOptions& options, const Effort& effort) {
  ProtoWriter build;  // ExecutableBuildOptionsProto
  if (effort.optimization != 0) build.Varint(24, effort.optimization);
  if (effort.memory_fitting != 0) build.Varint(25, effort.memory_fitting);
  ProtoWriter more;
  if (!build.bytes().empty()) more.Bytes(3, build.bytes());
  return options.Serialize() + more.bytes();
}

}  // namespace

Result<std::shared_ptr<const Topology>> Topology::Create(
    std::shared_ptr<const Plugin> plugin, const std::string& name,
    const std::map<std::string, OptionValue>& options) {
  const std::vector<PJRT_NamedValue> values = NamedValues(options);
  auto args = MakeArgs<PJRT_TopologyDescription_Create_Args>(
      PJRT_TopologyDescription_Create_Args_STRUCT_SIZE);
  args.topology_name = name.data();
  args.topology_name_size = name.size();
  args.create_options = values.data();
  args.num_options = values.size();
  RETURN_IF_ERROR(CallSlot(plugin->api(), &PJRT_Api::PJRT_TopologyDescription_Create,
                           "PJRT_TopologyDescription_Create", &args)
                      .WithContext("topology '" + name + "'"));
  std::shared_ptr<Topology> topology(new Topology(std::move(plugin), args.topology));
  RETURN_IF_ERROR(topology->Describe());
  return std::shared_ptr<const Topology>(std::move(topology));
}

Topology::~Topology() {
  auto args = MakeArgs<PJRT_TopologyDescription_Destroy_Args>(
      PJRT_TopologyDescription_Destroy_Args_STRUCT_SIZE);
  args.topology = topology_;
  (void)CallSlot(plugin_->api(), &PJRT_Api::PJRT_TopologyDescription_Destroy,
                 "PJRT_TopologyDescription_Destroy", &args);
}

Status Topology::Describe() {
  const PJRT_Api* api = plugin_->api();
  auto name = MakeArgs<PJRT_TopologyDescription_PlatformName_Args>(
      PJRT_TopologyDescription_PlatformName_Args_STRUCT_SIZE);
  name.topology = topology_;
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_TopologyDescription_PlatformName,
                           "PJRT_TopologyDescription_PlatformName", &name));
  platform_name_ = std::string(name.platform_name, name.platform_name_size);

  auto version = MakeArgs<PJRT_TopologyDescription_PlatformVersion_Args>(
      PJRT_TopologyDescription_PlatformVersion_Args_STRUCT_SIZE);
  version.topology = topology_;
  if (CallSlot(api, &PJRT_Api::PJRT_TopologyDescription_PlatformVersion,
               "PJRT_TopologyDescription_PlatformVersion", &version)
          .ok()) {
    platform_version_ = std::string(version.platform_version, version.platform_version_size);
  }

  auto list = MakeArgs<PJRT_TopologyDescription_GetDeviceDescriptions_Args>(
      PJRT_TopologyDescription_GetDeviceDescriptions_Args_STRUCT_SIZE);
  list.topology = topology_;
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_TopologyDescription_GetDeviceDescriptions,
                           "PJRT_TopologyDescription_GetDeviceDescriptions", &list));
  for (size_t i = 0; i < list.num_descriptions; ++i) {
    devices_.push_back(DescribeDevice(api, list.descriptions[i]));
  }

  auto attributes = MakeArgs<PJRT_TopologyDescription_Attributes_Args>(
      PJRT_TopologyDescription_Attributes_Args_STRUCT_SIZE);
  attributes.topology = topology_;
  if (CallSlot(api, &PJRT_Api::PJRT_TopologyDescription_Attributes,
               "PJRT_TopologyDescription_Attributes", &attributes)
          .ok()) {
    attributes_ = Texts(attributes.attributes, attributes.num_attributes);
  }
  return {};
}

Result<std::unique_ptr<CompiledProgram>> CompiledProgram::Compile(const Topology& topology,
                                                                  std::string_view module,
                                                                  const CompileOptions& options,
                                                                  const Effort& effort) {
  RETURN_IF_ERROR(options.Check());
  constexpr std::string_view kFormat = "mlir";
  auto program = MakeArgs<PJRT_Program>(PJRT_Program_STRUCT_SIZE);
  std::string code(module);  // the field is not const
  program.code = code.data();
  program.code_size = code.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  const std::string serialized = SerializedOptions(options, effort);
  auto args = MakeArgs<PJRT_Compile_Args>(PJRT_Compile_Args_STRUCT_SIZE);
  args.topology = topology.raw();
  args.program = &program;
  args.compile_options = serialized.data();
  args.compile_options_size = serialized.size();
  const PJRT_Api* api = topology.plugin().api();
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_Compile, "PJRT_Compile", &args));
  return std::unique_ptr<CompiledProgram>(
      new CompiledProgram(topology.plugin_ptr(), args.executable));
}

CompiledProgram::~CompiledProgram() {
  auto args = MakeArgs<PJRT_Executable_Destroy_Args>(PJRT_Executable_Destroy_Args_STRUCT_SIZE);
  args.executable = executable_;
  (void)CallSlot(plugin_->api(), &PJRT_Api::PJRT_Executable_Destroy, "PJRT_Executable_Destroy",
                 &args);
}

std::string CompiledProgram::Fingerprint() const {
  return FingerprintOf(plugin_->api(), executable_);
}
Result<std::string> CompiledProgram::Serialize() const {
  return SerializeOf(plugin_->api(), executable_);
}
Result<ProgramMemory> CompiledProgram::Memory() const {
  return MemoryOf(plugin_->api(), executable_);
}
Result<std::map<std::string, double>> CompiledProgram::Costs() const {
  return CostsOf(plugin_->api(), executable_);
}
Result<std::string> CompiledProgram::OptimizedProgram(std::string* format) const {
  return OptimizedProgramOf(plugin_->api(), executable_, format);
}
Result<int64_t> CompiledProgram::GeneratedCodeBytes() const {
  return GeneratedCodeBytesOf(plugin_->api(), executable_);
}

}  // namespace torch_tpu::pjrt
