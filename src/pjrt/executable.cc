// Execution of loaded programs, and what can be asked about them.
#include "pjrt/executable.h"

#include <utility>
#include <vector>

#include "pjrt/api_call.h"
#include "pjrt/client.h"
#include "pjrt/plugin.h"
#include "pjrt/program_queries.h"

namespace torch_tpu::pjrt {

LoadedExecutable::LoadedExecutable(std::shared_ptr<const Client> client,
                                   PJRT_LoadedExecutable* executable)
    : client_(std::move(client)), api_(client_->plugin().api()), executable_(executable) {}

Result<std::unique_ptr<LoadedExecutable>> LoadedExecutable::Create(
    std::shared_ptr<const Client> client, PJRT_LoadedExecutable* executable) {
  std::unique_ptr<LoadedExecutable> loaded(new LoadedExecutable(std::move(client), executable));
  const PJRT_Api* api = loaded->api_;

  auto get = MakeArgs<PJRT_LoadedExecutable_GetExecutable_Args>(
      PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE);
  get.loaded_executable = executable;
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_LoadedExecutable_GetExecutable,
                           "PJRT_LoadedExecutable_GetExecutable", &get));
  loaded->unloaded_ = get.executable;

  auto outputs =
      MakeArgs<PJRT_Executable_NumOutputs_Args>(PJRT_Executable_NumOutputs_Args_STRUCT_SIZE);
  outputs.executable = get.executable;
  RETURN_IF_ERROR(
      CallSlot(api, &PJRT_Api::PJRT_Executable_NumOutputs, "PJRT_Executable_NumOutputs", &outputs));
  loaded->num_outputs_ = static_cast<int>(outputs.num_outputs);
  loaded->fingerprint_ = FingerprintOf(api, get.executable);
  return loaded;
}

LoadedExecutable::~LoadedExecutable() {
  if (IsShutDown()) return;
  auto unloaded = MakeArgs<PJRT_Executable_Destroy_Args>(PJRT_Executable_Destroy_Args_STRUCT_SIZE);
  unloaded.executable = unloaded_;
  if (unloaded_ != nullptr) (void)TakeError(api_, api_->PJRT_Executable_Destroy(&unloaded));
  auto loaded =
      MakeArgs<PJRT_LoadedExecutable_Destroy_Args>(PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE);
  loaded.executable = executable_;
  (void)TakeError(api_, api_->PJRT_LoadedExecutable_Destroy(&loaded));
}

Status LoadedExecutable::Execute(std::span<PJRT_Buffer* const> args,
                                 std::span<const int64_t> non_donatable,
                                 std::span<PJRT_Buffer*> outputs, Event* done) const {
  if (outputs.size() != static_cast<size_t>(num_outputs_)) {
    return InvalidArgument("execute: the program has " + std::to_string(num_outputs_) +
                           " outputs, got room for " + std::to_string(outputs.size()));
  }
  if (IsShutDown()) return ShutDownStatus();
  PJRT_ExecuteOptions options{};
  options.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;
  options.non_donatable_input_indices = non_donatable.data();
  options.num_non_donatable_input_indices = non_donatable.size();

  PJRT_Buffer* const* const argument_list = args.data();
  PJRT_Buffer** const output_list = outputs.data();
  PJRT_Event* event = nullptr;
  PJRT_LoadedExecutable_Execute_Args call{};
  call.struct_size = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE;
  call.executable = executable_;
  call.options = &options;
  call.argument_lists = &argument_list;
  call.num_devices = 1;
  call.num_args = args.size();
  call.output_lists = &output_list;
  if (done != nullptr) call.device_complete_events = &event;

  if (PJRT_Error* error = api_->PJRT_LoadedExecutable_Execute(&call)) {
    return TakeError(api_, error);
  }
  if (done != nullptr) *done = Event(client_->plugin_ptr(), event);
  return {};
}

Result<std::string> LoadedExecutable::Serialize() const { return SerializeOf(api_, unloaded_); }

Result<MemoryStats> LoadedExecutable::GetMemoryStats() const {
  ASSIGN_OR_RETURN(const ProgramMemory all, MemoryOf(api_, unloaded_));
  return MemoryStats{all.argument, all.output, all.alias, all.temp, all.generated_code, all.peak};
}

Result<std::map<std::string, double>> LoadedExecutable::GetCostAnalysis() const {
  return CostsOf(api_, unloaded_);
}

Result<std::string> LoadedExecutable::OptimizedProgram(std::string* format) const {
  return OptimizedProgramOf(api_, unloaded_, format);
}

}  // namespace torch_tpu::pjrt
