// Error translation, element type numbers and process exit.
#include "pjrt/api_call.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>

namespace torch_tpu::pjrt {
namespace {

std::atomic<bool> is_shut_down{false};
std::atomic<bool> is_forked_child{false};
std::atomic<int> num_open_clients{0};

// Indexed by DType.
constexpr PJRT_Buffer_Type kBufferTypes[kNumDTypes] = {
    PJRT_Buffer_Type_INVALID,    PJRT_Buffer_Type_PRED,       PJRT_Buffer_Type_S8,
    PJRT_Buffer_Type_S16,        PJRT_Buffer_Type_S32,        PJRT_Buffer_Type_S64,
    PJRT_Buffer_Type_U8,         PJRT_Buffer_Type_U16,        PJRT_Buffer_Type_U32,
    PJRT_Buffer_Type_U64,        PJRT_Buffer_Type_F16,        PJRT_Buffer_Type_BF16,
    PJRT_Buffer_Type_F32,        PJRT_Buffer_Type_F64,        PJRT_Buffer_Type_C64,
    PJRT_Buffer_Type_C128,       PJRT_Buffer_Type_F8E4M3FN,   PJRT_Buffer_Type_F8E5M2,
    PJRT_Buffer_Type_F8E4M3FNUZ, PJRT_Buffer_Type_F8E5M2FNUZ,
};

}  // namespace

Status TakeError(const PJRT_Api* api, PJRT_Error* error) {
  if (error == nullptr) return {};
  auto message = MakeArgs<PJRT_Error_Message_Args>(PJRT_Error_Message_Args_STRUCT_SIZE);
  message.error = error;
  api->PJRT_Error_Message(&message);
  std::string text(message.message, message.message_size);

  auto code = MakeArgs<PJRT_Error_GetCode_Args>(PJRT_Error_GetCode_Args_STRUCT_SIZE);
  code.error = error;
  code.code = PJRT_Error_Code_UNKNOWN;
  PJRT_Error* no_code = api->PJRT_Error_GetCode(&code);

  auto destroy = MakeArgs<PJRT_Error_Destroy_Args>(PJRT_Error_Destroy_Args_STRUCT_SIZE);
  for (PJRT_Error* each : {error, no_code}) {
    if (each == nullptr) continue;
    destroy.error = each;
    api->PJRT_Error_Destroy(&destroy);
  }
  // An error object with code OK would otherwise read as success.
  const auto status_code =
      code.code == PJRT_Error_Code_OK ? StatusCode::kUnknown : static_cast<StatusCode>(code.code);
  return Status(status_code, std::move(text));
}

Status MissingSlot(const PJRT_Api* api, const char* slot_name) {
  return Unimplemented(std::string(slot_name) + " is not offered by this PJRT plugin (API " +
                       std::to_string(api->pjrt_api_version.major_version) + "." +
                       std::to_string(api->pjrt_api_version.minor_version) + ")");
}

bool IsShutDown() { return is_shut_down.load(std::memory_order_relaxed); }

void MarkShutDown() { is_shut_down.store(true); }

bool IsForkedChild() { return is_forked_child.load(std::memory_order_relaxed); }

void WatchProcess() {
  static const int exit_watched = std::atexit(MarkShutDown);
  // The plugin's threads stay behind in the parent: its first call in the child would wait forever.
  static const int fork_watched = pthread_atfork(nullptr, nullptr, [] {
    if (num_open_clients.load() == 0) return;
    is_forked_child.store(true);
    MarkShutDown();
  });
  (void)exit_watched;
  (void)fork_watched;
}

void CountOpenClients(int change) { num_open_clients.fetch_add(change); }

Status ShutDownStatus() {
  if (IsForkedChild()) {
    return FailedPrecondition(
        "the device cannot be used in a forked process: its client runs in the parent; start "
        "workers with the method 'spawn' or 'forkserver', or fork before the first use of the "
        "device");
  }
  return FailedPrecondition("the device was shut down because the process is ending");
}

PJRT_Buffer_Type ToBufferType(DType dtype) { return kBufferTypes[static_cast<int>(dtype)]; }

std::optional<DType> FromBufferType(PJRT_Buffer_Type type) {
  for (int i = 1; i < kNumDTypes; ++i) {
    if (kBufferTypes[i] == type) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::string NamedValueText(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue_kString:
      return std::string(value.string_value, value.value_size);
    case PJRT_NamedValue_kInt64:
      return std::to_string(value.int64_value);
    case PJRT_NamedValue_kInt64List: {
      std::string text;
      for (size_t i = 0; i < value.value_size; ++i) {
        if (i > 0) text += '.';
        text += std::to_string(value.int64_array_value[i]);
      }
      return text;
    }
    case PJRT_NamedValue_kFloat:
      return std::to_string(value.float_value);
    case PJRT_NamedValue_kBool:
      return value.bool_value ? "true" : "false";
  }
  return "";
}

std::optional<double> NamedValueNumber(const PJRT_NamedValue& value) {
  if (value.type == PJRT_NamedValue_kInt64) return static_cast<double>(value.int64_value);
  if (value.type == PJRT_NamedValue_kFloat) return value.float_value;
  if (value.type == PJRT_NamedValue_kBool) return value.bool_value ? 1.0 : 0.0;
  return std::nullopt;
}

}  // namespace torch_tpu::pjrt
