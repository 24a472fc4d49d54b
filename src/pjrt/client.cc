// Opening a plugin's client, compiling, and transfers to the device.
#include "pjrt/client.h"

#include <utility>

#include "base/env.h"
#include "base/log.h"
#include "pjrt/api_call.h"
#include "pjrt/module_dump.h"
#include "pjrt/plugin.h"

namespace torch_tpu::pjrt {
namespace {

// The open clients of the process. Never destroyed.
struct OpenClients {
  std::mutex mutex;
  std::set<std::pair<const PJRT_Api*, PJRT_Client*>> clients;
};
OpenClients& GetOpenClients() {
  static OpenClients* open_clients = new OpenClients;
  return *open_clients;
}

void DestroyClient(const PJRT_Api* api, PJRT_Client* client) {
  auto args = MakeArgs<PJRT_Client_Destroy_Args>(PJRT_Client_Destroy_Args_STRUCT_SIZE);
  args.client = client;
  (void)TakeError(api, api->PJRT_Client_Destroy(&args));
}

PJRT_NamedValue ToNamedValue(const std::string& name, const OptionValue& value) {
  auto named = MakeArgs<PJRT_NamedValue>(PJRT_NamedValue_STRUCT_SIZE);
  named.name = name.data();
  named.name_size = name.size();
  named.value_size = 1;
  if (const auto* text = std::get_if<std::string>(&value)) {
    named.type = PJRT_NamedValue_kString;
    named.string_value = text->data();
    named.value_size = text->size();
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    named.type = PJRT_NamedValue_kBool;
    named.bool_value = *flag;
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    named.type = PJRT_NamedValue_kInt64;
    named.int64_value = *number;
  } else {
    named.type = PJRT_NamedValue_kFloat;
    named.float_value = static_cast<float>(std::get<double>(value));
  }
  return named;
}

// "first line\nwhole text" when there are several lines.
Status CompileFailure(const Status& status) {
  const size_t end = status.message().find('\n');
  if (end == std::string::npos) return status.WithContext("the program does not compile");
  return Status(status.code(), "the program does not compile: " + status.message().substr(0, end) +
                                   "\n" + status.message());
}

Result<PJRT_DeviceDescription*> Describe(const PJRT_Api* api, PJRT_Device* device) {
  auto args =
      MakeArgs<PJRT_Device_GetDescription_Args>(PJRT_Device_GetDescription_Args_STRUCT_SIZE);
  args.device = device;
  RETURN_IF_ERROR(
      CallSlot(api, &PJRT_Api::PJRT_Device_GetDescription, "PJRT_Device_GetDescription", &args));
  return args.device_description;
}

}  // namespace

Result<std::shared_ptr<const Client>> Client::Create(std::shared_ptr<const Plugin> plugin,
                                                     const ClientOptions& options) {
  std::shared_ptr<Client> client(new Client(std::move(plugin)));
  RETURN_IF_ERROR(client->Open(options.create_options));
  // The platform is known only now. Plugins may refuse options that they do not know, so the device
  // count goes to CPU plugins alone.
  if (options.create_options.empty() && client->platform_name_ == "cpu" &&
      client->devices_.size() > 1) {
    client->Close();
    RETURN_IF_ERROR(client->Open({{"cpu_device_count", int64_t{1}}}));
  }
  return std::shared_ptr<const Client>(std::move(client));
}

Status Client::Open(const std::map<std::string, OptionValue>& create_options) {
  const PJRT_Api* api = plugin_->api();
  std::vector<PJRT_NamedValue> named;
  for (const auto& [name, value] : create_options) named.push_back(ToNamedValue(name, value));
  auto create = MakeArgs<PJRT_Client_Create_Args>(PJRT_Client_Create_Args_STRUCT_SIZE);
  create.create_options = named.data();
  create.num_options = named.size();
  RETURN_IF_ERROR(
      CallSlot(api, &PJRT_Api::PJRT_Client_Create, "PJRT_Client_Create", &create)
          .WithContext("PJRT plugin '" + plugin_->path() + "' cannot open its devices"));
  client_ = create.client;
  {
    const std::lock_guard<std::mutex> lock(GetOpenClients().mutex);
    GetOpenClients().clients.emplace(api, client_);
    CountOpenClients(1);
  }

  auto name = MakeArgs<PJRT_Client_PlatformName_Args>(PJRT_Client_PlatformName_Args_STRUCT_SIZE);
  name.client = client_;
  RETURN_IF_ERROR(
      CallSlot(api, &PJRT_Api::PJRT_Client_PlatformName, "PJRT_Client_PlatformName", &name));
  platform_name_.assign(name.platform_name, name.platform_name_size);
  auto version =
      MakeArgs<PJRT_Client_PlatformVersion_Args>(PJRT_Client_PlatformVersion_Args_STRUCT_SIZE);
  version.client = client_;
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_Client_PlatformVersion,
                           "PJRT_Client_PlatformVersion", &version));
  platform_version_.assign(version.platform_version, version.platform_version_size);

  auto devices = MakeArgs<PJRT_Client_AddressableDevices_Args>(
      PJRT_Client_AddressableDevices_Args_STRUCT_SIZE);
  devices.client = client_;
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_Client_AddressableDevices,
                           "PJRT_Client_AddressableDevices", &devices));
  devices_.assign(devices.addressable_devices,
                  devices.addressable_devices + devices.num_addressable_devices);
  if (devices_.empty()) {
    return FailedPrecondition("PJRT plugin '" + plugin_->path() + "' has no device on this host");
  }
  return {};
}

void Client::Close() {
  if (client_ == nullptr) return;
  {
    const std::lock_guard<std::mutex> lock(GetOpenClients().mutex);
    GetOpenClients().clients.erase({plugin_->api(), client_});
    CountOpenClients(-1);
  }
  devices_.clear();
  DestroyClient(plugin_->api(), std::exchange(client_, nullptr));
}

void Client::ShutDownAll() {
  if (IsForkedChild()) return;
  MarkShutDown();
  const std::lock_guard<std::mutex> lock(GetOpenClients().mutex);
  for (const auto& [api, client] : GetOpenClients().clients) DestroyClient(api, client);
  GetOpenClients().clients.clear();
}

Client::~Client() {
  if (!IsShutDown()) Close();
}

std::string Client::DeviceKind() const {
  const PJRT_Api* api = plugin_->api();
  const auto description = Describe(api, devices_.front());
  auto args =
      MakeArgs<PJRT_DeviceDescription_Kind_Args>(PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE);
  if (!description.ok()) return "";
  args.device_description = *description;
  const Status status =
      CallSlot(api, &PJRT_Api::PJRT_DeviceDescription_Kind, "PJRT_DeviceDescription_Kind", &args);
  return status.ok() ? std::string(args.device_kind, args.device_kind_size) : "";
}

std::string Client::DeviceDebugString() const {
  const PJRT_Api* api = plugin_->api();
  const auto description = Describe(api, devices_.front());
  auto args = MakeArgs<PJRT_DeviceDescription_DebugString_Args>(
      PJRT_DeviceDescription_DebugString_Args_STRUCT_SIZE);
  if (!description.ok()) return "";
  args.device_description = *description;
  const Status status = CallSlot(api, &PJRT_Api::PJRT_DeviceDescription_DebugString,
                                 "PJRT_DeviceDescription_DebugString", &args);
  return status.ok() ? std::string(args.debug_string, args.debug_string_size) : "";
}

CompileOptions Client::DefaultCompileOptions(CompileEffort effort) const {
  CompileOptions options;
  if (platform_name_ != "cpu") return options;
  options.hints["xla_cpu_enable_fast_min_max"] = false;
  // Large reductions through YNNPACK ignore the line above.
  options.hints["xla_cpu_experimental_ynn_fusion_type"] = std::string();
  if (effort == CompileEffort::kQuick) {
    options.hints["xla_cpu_use_fusion_emitters"] = false;
    options.hints["xla_backend_optimization_level"] = int64_t{0};
  }
  return options;
}

std::map<std::string, OptionValue> Client::KnownHints(const CompileOptions& options) const {
  std::map<std::string, OptionValue> known = options.hints;
  const std::lock_guard<std::mutex> lock(unknown_hints_mutex_);
  for (const std::string& name : unknown_hints_) known.erase(name);
  return known;
}

// Whether `message` refuses one of the hints; it is then remembered.
bool Client::ForgetHint(const std::string& message, const CompileOptions& options) const {
  for (const auto& [name, value] : options.hints) {
    if (message.find("No such compile option: '" + name + "'") == std::string::npos) continue;
    Log(LogLevel::kInfo, "the plugin does not know the compile option " + name);
    const std::lock_guard<std::mutex> lock(unknown_hints_mutex_);
    unknown_hints_.insert(name);
    return true;
  }
  return false;
}

Result<std::unique_ptr<LoadedExecutable>> Client::Compile(std::string_view module,
                                                          const CompileOptions& options) const {
  RETURN_IF_ERROR(options.Check());
  if (!env::Get().dump_hlo.empty()) DumpModule(env::Get().dump_hlo, module);
  static constexpr std::string_view kFormat = "mlir";
  auto program = MakeArgs<PJRT_Program>(PJRT_Program_STRUCT_SIZE);
  program.code = const_cast<char*>(module.data());  // in this call an input
  program.code_size = module.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  CompileOptions accepted = options;
  for (;;) {
    accepted.hints = KnownHints(accepted);
    const std::string serialized = accepted.Serialize();
    auto args = MakeArgs<PJRT_Client_Compile_Args>(PJRT_Client_Compile_Args_STRUCT_SIZE);
    args.client = client_;
    args.program = &program;
    args.compile_options = serialized.data();
    args.compile_options_size = serialized.size();
    const Status status =
        CallSlot(plugin_->api(), &PJRT_Api::PJRT_Client_Compile, "PJRT_Client_Compile", &args);
    if (status.ok()) return LoadedExecutable::Create(shared_from_this(), args.executable);
    if (!ForgetHint(status.message(), accepted)) return CompileFailure(status);
  }
}

Result<std::unique_ptr<LoadedExecutable>> Client::DeserializeAndLoad(
    std::string_view serialized) const {
  auto args = MakeArgs<PJRT_Executable_DeserializeAndLoad_Args>(
      PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE);
  args.client = client_;
  args.serialized_executable = serialized.data();
  args.serialized_executable_size = serialized.size();
  RETURN_IF_ERROR(CallSlot(plugin_->api(), &PJRT_Api::PJRT_Executable_DeserializeAndLoad,
                           "PJRT_Executable_DeserializeAndLoad", &args)
                      .WithContext("the stored program cannot be loaded"));
  return LoadedExecutable::Create(shared_from_this(), args.loaded_executable);
}

Result<Buffer> Client::MakeBuffer(const void* data, DType dtype, std::span<const int64_t> dims,
                                  int semantics, Event* done_with_host) const {
  if (dtype == DType::kInvalid) {  // XLA aborts on it
    return InvalidArgument("copy to the device: the element type is invalid");
  }
  auto args = MakeArgs<PJRT_Client_BufferFromHostBuffer_Args>(
      PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE);
  args.client = client_;
  args.data = data;
  args.type = ToBufferType(dtype);
  args.dims = dims.data();
  args.num_dims = dims.size();
  args.host_buffer_semantics = static_cast<PJRT_HostBufferSemantics>(semantics);
  args.device = devices_.front();
  RETURN_IF_ERROR(CallSlot(plugin_->api(), &PJRT_Api::PJRT_Client_BufferFromHostBuffer,
                           "PJRT_Client_BufferFromHostBuffer", &args));
  *done_with_host = Event(plugin_, args.done_with_host_buffer);
  return Buffer(shared_from_this(), args.buffer);
}

Result<Buffer> Client::BufferFromHost(const void* data, DType dtype,
                                      std::span<const int64_t> dims) const {
  Event done;
  return MakeBuffer(data, dtype, dims, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, &done);
}

Result<Buffer> Client::BufferFromHostAsync(const void* data, DType dtype,
                                           std::span<const int64_t> dims,
                                           Event* done_with_host) const {
  return MakeBuffer(data, dtype, dims, PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes,
                    done_with_host);
}

Result<std::map<std::string, int64_t>> Client::DeviceMemoryStats() const {
  auto args = MakeArgs<PJRT_Device_MemoryStats_Args>(PJRT_Device_MemoryStats_Args_STRUCT_SIZE);
  args.device = devices_.front();
  RETURN_IF_ERROR(CallSlot(plugin_->api(), &PJRT_Api::PJRT_Device_MemoryStats,
                           "PJRT_Device_MemoryStats", &args));
  std::map<std::string, int64_t> stats = {{"bytes_in_use", args.bytes_in_use}};
  const auto add = [&](const char* name, bool is_set, int64_t value) {
    if (is_set) stats[name] = value;
  };
  add("peak_bytes_in_use", args.peak_bytes_in_use_is_set, args.peak_bytes_in_use);
  add("num_allocs", args.num_allocs_is_set, args.num_allocs);
  add("largest_alloc_size", args.largest_alloc_size_is_set, args.largest_alloc_size);
  add("bytes_limit", args.bytes_limit_is_set, args.bytes_limit);
  add("bytes_reserved", args.bytes_reserved_is_set, args.bytes_reserved);
  add("largest_free_block_bytes", args.largest_free_block_bytes_is_set,
      args.largest_free_block_bytes);
  return stats;
}

}  // namespace torch_tpu::pjrt
