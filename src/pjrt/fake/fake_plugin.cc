// The fake plugin's entry point, errors, events, and the functions that tests control it with.
#include "pjrt/fake/fake_plugin.h"

#include <cstring>

#include "pjrt/fake/fake_runtime.h"
#include "pjrt/fake/fake_slots.h"

#define extern "C" __attribute__((visibility("default")))

namespace torch_tpu::pjrt::fake {
namespace {

PJRT_Error* ToError(const std::optional<Failure>& failure) {
  return failure ? MakeError(failure->code, failure->message) : nullptr;
}

void ErrorDestroy(PJRT_Error_Destroy_Args* args) { delete args->error; }

void ErrorMessage(PJRT_Error_Message_Args* args) {
  args->message = args->error->failure.message.data();
  args->message_size = args->error->failure.message.size();
}

PJRT_Error* ErrorGetCode(PJRT_Error_GetCode_Args* args) {
  args->code = args->error->failure.code;
  return nullptr;
}

PJRT_Error* PluginInitialize(PJRT_Plugin_Initialize_Args*) { return nullptr; }

PJRT_Error* PluginAttributes(PJRT_Plugin_Attributes_Args* args) {
  static constexpr int64_t kStableHlo[] = {1, 13, 3};
  static const PJRT_NamedValue* attributes = [] {
    auto* values = new PJRT_NamedValue[2]();
    const char* names[] = {"xla_version", "stablehlo_current_version"};
    for (int i = 0; i < 2; ++i) {
      values[i].struct_size = PJRT_NamedValue_STRUCT_SIZE;
      values[i].name = names[i];
      values[i].name_size = std::strlen(names[i]);
    }
    values[0].type = PJRT_NamedValue_kInt64;
    values[0].int64_value = 1;
    values[0].value_size = 1;
    values[1].type = PJRT_NamedValue_kInt64List;
    values[1].int64_array_value = kStableHlo;
    values[1].value_size = 3;
    return values;
  }();
  args->attributes = attributes;
  args->num_attributes = 2;
  return nullptr;
}

PJRT_Error* EventDestroy(PJRT_Event_Destroy_Args* args) {
  delete args->event;
  return nullptr;
}

PJRT_Error* EventIsReady(PJRT_Event_IsReady_Args* args) {
  args->is_ready = args->event->completion->IsReady();
  return nullptr;
}

PJRT_Error* EventError(PJRT_Event_Error_Args* args) {
  return ToError(args->event->completion->Await());
}

PJRT_Error* EventAwait(PJRT_Event_Await_Args* args) {
  return ToError(args->event->completion->Await());
}

PJRT_Error* EventOnReady(PJRT_Event_OnReady_Args* args) {
  args->event->completion->OnReady(
      [callback = args->callback, user_arg = args->user_arg](
          const std::optional<Failure>& failure) { callback(ToError(failure), user_arg); });
  return nullptr;
}

PJRT_Api* MakeApi() {
  auto* api = new PJRT_Api{};
  api->struct_size = PJRT_Api_STRUCT_SIZE;
  api->pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api->pjrt_api_version.major_version = PJRT_API_MAJOR;
  api->pjrt_api_version.minor_version = PJRT_API_MINOR;
  api->PJRT_Error_Destroy = ErrorDestroy;
  api->PJRT_Error_Message = ErrorMessage;
  api->PJRT_Error_GetCode = ErrorGetCode;
  FAKE_SLOT(api, PJRT_Plugin_Initialize, PluginInitialize);
  FAKE_SLOT(api, PJRT_Plugin_Attributes, PluginAttributes);
  FAKE_SLOT(api, PJRT_Event_Destroy, EventDestroy);
  FAKE_SLOT(api, PJRT_Event_IsReady, EventIsReady);
  FAKE_SLOT(api, PJRT_Event_Error, EventError);
  FAKE_SLOT(api, PJRT_Event_Await, EventAwait);
  FAKE_SLOT(api, PJRT_Event_OnReady, EventOnReady);
  FillClientSlots(api);
  FillExecuteSlots(api);
  FillTopologySlots(api);
  return api;
}

PJRT_Api& Api() {
  static PJRT_Api* api = MakeApi();
  return *api;
}

}  // namespace
}  // namespace torch_tpu::pjrt::fake

using namespace torch_tpu::pjrt::fake;  // NOLINT: this file implements that namespace's C face

const PJRT_Api* GetPjrtApi() { return &Api(); }

void torch_tpu_fake_reset() {
  GetControls().Reset();
  GetWorker().SetHold(false);
  GetWorker().WaitUntilIdle();
  torch_tpu_fake_set_api_version(PJRT_API_MAJOR, PJRT_API_MINOR);
}

void torch_tpu_fake_set_api_version(int major, int minor) {
  Api().pjrt_api_version.major_version = major;
  Api().pjrt_api_version.minor_version = minor;
}

void torch_tpu_fake_set_execute_delay_ms(int milliseconds) {
  GetControls().delay_ms = milliseconds;
}

void torch_tpu_fake_set_hold(int on) { GetWorker().SetHold(on != 0); }

void torch_tpu_fake_fail_next(const char* slot, int nth, int code, const char* message) {
  GetControls().FailNext(slot, nth, {static_cast<PJRT_Error_Code>(code), message});
}

void torch_tpu_fake_fail_execution(int nth, int code, const char* message) {
  torch_tpu_fake_fail_next("execution", nth, code, message);
}

void torch_tpu_fake_set_memory_limit(int64_t bytes) { GetControls().memory_limit = bytes; }

int64_t torch_tpu_fake_call_count(const char* slot) { return GetControls().CallCount(slot); }

const char* torch_tpu_fake_last_module() {
  thread_local std::string text;
  text = GetControls().last_module();
  return text.c_str();
}

const char* torch_tpu_fake_last_compile_options(int64_t* size) {
  thread_local std::string options;
  options = GetControls().last_options();
  *size = static_cast<int64_t>(options.size());
  return options.data();
}

int64_t torch_tpu_fake_live_bytes() { return GetControls().live_bytes; }
int64_t torch_tpu_fake_live_buffers() { return Counted<PJRT_Buffer>::live; }
int64_t torch_tpu_fake_live_events() { return Counted<PJRT_Event>::live; }
int64_t torch_tpu_fake_live_executables() { return Counted<PJRT_LoadedExecutable>::live; }
int64_t torch_tpu_fake_live_clients() { return Counted<PJRT_Client>::live; }
int64_t torch_tpu_fake_live_errors() { return Counted<PJRT_Error>::live; }
