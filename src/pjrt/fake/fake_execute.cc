// The fake plugin's executables and buffers: launches, donation, and transfers to the host.
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/fake/fake_runtime.h"
#include "pjrt/fake/fake_slots.h"

namespace torch_tpu::pjrt::fake {
namespace {

using StoragePtr = std::shared_ptr<Storage>;
using CompletionPtr = std::shared_ptr<Completion>;

PJRT_Error* InvalidArgument(std::string message) {
  return MakeError(PJRT_Error_Code_INVALID_ARGUMENT, std::move(message));
}

PJRT_Error* OutOfMemory(int64_t bytes) {
  return MakeError(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                   "out of memory allocating " + std::to_string(bytes) + " bytes");
}

// One launch between the checks and its end.
struct Launch {
  std::vector<PJRT_Buffer*> arguments;
  std::vector<bool> donated;
  std::vector<StoragePtr> inputs;
  std::vector<CompletionPtr> inputs_ready;
  std::vector<StoragePtr> outputs;
  // Vetoed donations: output index and where its bytes come from.
  std::vector<std::pair<size_t, StoragePtr>> copies;
};

PJRT_Error* CheckArguments(const PJRT_LoadedExecutable_Execute_Args& args, Launch* launch) {
  const Signature& signature = args.executable->program->signature;
  if (args.num_devices != 1 || args.num_args != signature.arguments.size()) {
    return InvalidArgument("the program takes " + std::to_string(signature.arguments.size()) +
                           " arguments on one device, got " + std::to_string(args.num_args) +
                           " on " + std::to_string(args.num_devices));
  }
  const PJRT_ExecuteOptions& options = *args.options;
  launch->arguments.assign(args.argument_lists[0], args.argument_lists[0] + args.num_args);
  for (size_t i = 0; i < args.num_args; ++i) {
    const PJRT_Buffer* buffer = launch->arguments[i];
    if (buffer->type != signature.arguments[i].type) {
      return InvalidArgument("argument " + std::to_string(i) + " is " + buffer->type.ToString() +
                             ", expected " + signature.arguments[i].type.ToString());
    }
    launch->inputs.push_back(buffer->storage());
    launch->inputs_ready.push_back(buffer->ready);
    if (launch->inputs.back() == nullptr) {
      return InvalidArgument("argument " + std::to_string(i) + " has been deleted or donated");
    }
    const int64_t* vetoes = options.non_donatable_input_indices;
    const bool vetoed =
        std::find(vetoes, vetoes + options.num_non_donatable_input_indices,
                  static_cast<int64_t>(i)) != vetoes + options.num_non_donatable_input_indices;
    launch->donated.push_back(signature.arguments[i].aliased_output >= 0 && !vetoed);
  }
  for (size_t i = 0; i < args.num_args; ++i) {
    for (size_t j = 0; launch->donated[i] && j < args.num_args; ++j) {
      if (i != j && launch->arguments[i] == launch->arguments[j]) {
        return InvalidArgument("argument " + std::to_string(i) + " is donated and used twice");
      }
    }
  }
  return nullptr;
}

PJRT_Error* AllocateOutputs(const Signature& signature, Launch* launch) {
  launch->outputs.resize(signature.results.size());
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const int output = signature.arguments[i].aliased_output;
    if (output < 0) continue;
    if (launch->donated[i]) {
      launch->outputs[output] = launch->inputs[i];
    } else {
      launch->copies.emplace_back(output, launch->inputs[i]);
    }
  }
  for (size_t i = 0; i < signature.results.size(); ++i) {
    if (launch->outputs[i] != nullptr) continue;
    launch->outputs[i] = Storage::Allocate(signature.results[i].bytes());
    if (launch->outputs[i] == nullptr) return OutOfMemory(signature.results[i].bytes());
  }
  return nullptr;
}

// What the worker does: the first failed input, or the ordered failure, poisons the outputs.
void Finish(const Launch& launch, std::optional<Failure> failure, Completion* done) {
  for (const CompletionPtr& input : launch.inputs_ready) {
    if (!failure) failure = input->Await();
  }
  for (const auto& [output, source] : launch.copies) {
    std::memcpy(launch.outputs[output]->data(), source->data(), source->size());
  }
  done->Complete(std::move(failure));
}

PJRT_Buffer* MakeBuffer(PJRT_Client* client, PJRT_Memory* memory, Type type, StoragePtr bytes,
                        CompletionPtr ready) {
  auto* buffer = new PJRT_Buffer;
  buffer->type = std::move(type);
  buffer->client = client;
  buffer->memory = memory;
  buffer->ready = std::move(ready);
  buffer->bytes = std::move(bytes);
  return buffer;
}

PJRT_Error* LoadedExecute(PJRT_LoadedExecutable_Execute_Args* args) {
  if (args->options->struct_size < PJRT_ExecuteOptions_STRUCT_SIZE) {
    return InvalidArgument("struct_size of PJRT_ExecuteOptions is too small");
  }
  const Signature& signature = args->executable->program->signature;
  auto launch = std::make_shared<Launch>();
  if (PJRT_Error* error = CheckArguments(*args, launch.get())) return error;
  if (PJRT_Error* error = AllocateOutputs(signature, launch.get())) return error;
  std::optional<Failure> failure = GetControls().TakeExecutionFailure();

  auto done = std::make_shared<Completion>();
  for (size_t i = 0; i < launch->arguments.size(); ++i) {
    if (launch->donated[i]) launch->arguments[i]->TakeStorage();
  }
  PJRT_Client* client = args->executable->client;
  for (size_t i = 0; i < signature.results.size(); ++i) {
    args->output_lists[0][i] =
        MakeBuffer(client, &client->memories[0], signature.results[i], launch->outputs[i], done);
  }
  if (args->device_complete_events != nullptr) args->device_complete_events[0] = MakeEvent(done);
  GetWorker().Run(
      [launch, done, failure = std::move(failure)] { Finish(*launch, failure, done.get()); });
  return nullptr;
}

PJRT_Error* LoadedDestroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error* LoadedGetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  const auto& program = args->loaded_executable->program;
  args->executable = new PJRT_Executable{
      program, "fake-" + std::to_string(std::hash<std::string>()(program->text))};
  return nullptr;
}

PJRT_Error* ExecutableDestroy(PJRT_Executable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error* ExecutableNumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  args->num_outputs = args->executable->program->signature.results.size();
  return nullptr;
}

PJRT_Error* ExecutableFingerprint(PJRT_Executable_Fingerprint_Args* args) {
  args->executable_fingerprint = args->executable->fingerprint.data();
  args->executable_fingerprint_size = args->executable->fingerprint.size();
  return nullptr;
}

PJRT_Error* ExecutableMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  for (const Argument& argument : args->executable->program->signature.arguments) {
    args->argument_size_in_bytes += argument.type.bytes();
    if (argument.aliased_output >= 0) args->alias_size_in_bytes += argument.type.bytes();
  }
  for (const Type& result : args->executable->program->signature.results) {
    args->output_size_in_bytes += result.bytes();
  }
  return nullptr;
}

PJRT_Error* BufferDestroy(PJRT_Buffer_Destroy_Args* args) {
  delete args->buffer;
  return nullptr;
}

PJRT_Error* BufferElementType(PJRT_Buffer_ElementType_Args* args) {
  args->type = args->buffer->type.element;
  return nullptr;
}

PJRT_Error* BufferDimensions(PJRT_Buffer_Dimensions_Args* args) {
  args->dims = args->buffer->type.dims.data();
  args->num_dims = args->buffer->type.dims.size();
  return nullptr;
}

PJRT_Error* BufferOnDeviceSize(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
  args->on_device_size_in_bytes = static_cast<size_t>(args->buffer->type.bytes());
  return nullptr;
}

PJRT_Error* BufferDevice(PJRT_Buffer_Device_Args* args) {
  args->device = &args->buffer->client->device;
  return nullptr;
}

PJRT_Error* BufferDelete(PJRT_Buffer_Delete_Args* args) {
  args->buffer->TakeStorage();
  return nullptr;
}

PJRT_Error* BufferIsDeleted(PJRT_Buffer_IsDeleted_Args* args) {
  args->is_deleted = args->buffer->storage() == nullptr;
  return nullptr;
}

PJRT_Error* BufferReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  CompletionPtr ready = args->buffer->ready;
  if (args->buffer->storage() == nullptr) {
    ready = std::make_shared<Completion>();
    ready->Complete(Failure{PJRT_Error_Code_INVALID_ARGUMENT, "the buffer has been deleted"});
  }
  args->event = MakeEvent(std::move(ready));
  return nullptr;
}

// Copies once `source_ready`; a failure passes to the returned completion.
CompletionPtr CopyWhenReady(const CompletionPtr& source_ready, StoragePtr source,
                            std::function<char*()> destination) {
  auto done = std::make_shared<Completion>();
  source_ready->OnReady([done, source = std::move(source),
                         destination = std::move(destination)](const std::optional<Failure>& f) {
    if (!f) std::memcpy(destination(), source->data(), source->size());
    done->Complete(f);
  });
  return done;
}

PJRT_Error* BufferToHost(PJRT_Buffer_ToHostBuffer_Args* args) {
  StoragePtr source = args->src->storage();
  if (source == nullptr) return InvalidArgument("the buffer has been deleted or donated");
  const auto size = static_cast<size_t>(source->size());
  if (args->dst == nullptr) {
    args->dst_size = size;
    return nullptr;
  }
  if (args->dst_size < size) return InvalidArgument("the host buffer is too small");
  args->event = MakeEvent(CopyWhenReady(args->src->ready, std::move(source),
                                        [dst = args->dst] { return static_cast<char*>(dst); }));
  return nullptr;
}

PJRT_Error* BufferCopyToMemory(PJRT_Buffer_CopyToMemory_Args* args) {
  PJRT_Buffer* from = args->buffer;
  StoragePtr source = from->storage();
  if (source == nullptr) return InvalidArgument("the buffer has been deleted or donated");
  StoragePtr copy = Storage::Allocate(source->size());
  if (copy == nullptr) return OutOfMemory(source->size());
  CompletionPtr done =
      CopyWhenReady(from->ready, std::move(source), [copy] { return copy->data(); });
  args->dst_buffer = MakeBuffer(from->client, args->dst_memory, from->type, copy, std::move(done));
  return nullptr;
}

}  // namespace

void FillExecuteSlots(PJRT_Api* api) {
  FAKE_SLOT(api, PJRT_LoadedExecutable_Execute, LoadedExecute);
  FAKE_SLOT(api, PJRT_LoadedExecutable_Destroy, LoadedDestroy);
  FAKE_SLOT(api, PJRT_LoadedExecutable_GetExecutable, LoadedGetExecutable);
  FAKE_SLOT(api, PJRT_Executable_Destroy, ExecutableDestroy);
  FAKE_SLOT(api, PJRT_Executable_NumOutputs, ExecutableNumOutputs);
  FAKE_SLOT(api, PJRT_Executable_Fingerprint, ExecutableFingerprint);
  FAKE_SLOT(api, PJRT_Executable_GetCompiledMemoryStats, ExecutableMemoryStats);
  FAKE_SLOT(api, PJRT_Buffer_Destroy, BufferDestroy);
  FAKE_SLOT(api, PJRT_Buffer_ElementType, BufferElementType);
  FAKE_SLOT(api, PJRT_Buffer_Dimensions, BufferDimensions);
  FAKE_SLOT(api, PJRT_Buffer_OnDeviceSizeInBytes, BufferOnDeviceSize);
  FAKE_SLOT(api, PJRT_Buffer_Device, BufferDevice);
  FAKE_SLOT(api, PJRT_Buffer_Delete, BufferDelete);
  FAKE_SLOT(api, PJRT_Buffer_IsDeleted, BufferIsDeleted);
  FAKE_SLOT(api, PJRT_Buffer_ReadyEvent, BufferReadyEvent);
  FAKE_SLOT(api, PJRT_Buffer_ToHostBuffer, BufferToHost);
  FAKE_SLOT(api, PJRT_Buffer_CopyToMemory, BufferCopyToMemory);
}

}  // namespace torch_tpu::pjrt::fake
