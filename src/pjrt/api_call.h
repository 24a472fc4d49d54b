// How sources of this layer call a plugin: slot check, struct header, error translation. The only
// includer of pjrt_c_api.h besides the fake plugin; not for other layers.
#pragma once

#include <pjrt_c_api.h>

#include <optional>
#include <string>

#include "base/dtype.h"
#include "base/status.h"

namespace torch_tpu::pjrt {

// Takes ownership of `error` (may be null: OK) and turns it into a Status.
Status TakeError(const PJRT_Api* api, PJRT_Error* error);

// UNIMPLEMENTED that names the slot and the plugin's API version.
Status MissingSlot(const PJRT_Api* api, const char* slot_name);

// A zeroed argument struct. `struct_size` is the header's PJRT_..._STRUCT_SIZE, which sizeof may
// exceed.
template <typename Args>
Args MakeArgs(size_t struct_size) {
  Args args{};
  args.struct_size = struct_size;
  return args;
}

// Whether the plugin's table is long enough to hold `slot` and the slot is filled.
template <typename Function>
bool HasSlot(const PJRT_Api* api, Function* PJRT_Api::*slot) {
  const auto offset =
      reinterpret_cast<const char*>(&(api->*slot)) - reinterpret_cast<const char*>(api);
  return static_cast<size_t>(offset) + sizeof(void*) <= api->struct_size && api->*slot != nullptr;
}

// True after Client::ShutDownAll, once the process has begun to exit, and in a child that was
// forked while a client was open. Plugins must not be called then.
bool IsShutDown();
void MarkShutDown();
bool IsForkedChild();
// Marks at exit and after a fork; called when the first plugin is loaded.
void WatchProcess();
void CountOpenClients(int change);
// FAILED_PRECONDITION that says why.
Status ShutDownStatus();

// Calls a slot when the plugin has it. `slot_name` is what a user reads in the failure.
template <typename Args>
Status CallSlot(const PJRT_Api* api, PJRT_Error* (*PJRT_Api::*slot)(Args*), const char* slot_name,
                Args* args) {
  if (IsShutDown()) return ShutDownStatus();
  if (!HasSlot(api, slot)) return MissingSlot(api, slot_name);
  return TakeError(api, (api->*slot)(args));
}

// Between our element types and the plugin's numbers.
PJRT_Buffer_Type ToBufferType(DType dtype);
std::optional<DType> FromBufferType(PJRT_Buffer_Type type);

// A named value as text ("1.13.3" for lists) or as a number (nullopt for strings and lists).
std::string NamedValueText(const PJRT_NamedValue& value);
std::optional<double> NamedValueNumber(const PJRT_NamedValue& value);

}  // namespace torch_tpu::pjrt
