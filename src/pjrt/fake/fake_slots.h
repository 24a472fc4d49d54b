// The fake plugin's slot functions by group, and the wrapper that counts, checks and fails their
// calls.
#pragma once

#include <pjrt_c_api.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "pjrt/fake/fake_runtime.h"

namespace torch_tpu::pjrt::fake {

// A string as a template argument.
template <size_t N>
struct Name {
  constexpr Name(const char (&text)[N]) { std::copy_n(text, N, chars); }  // NOLINT: implicit
  char chars[N];
};

template <Name kName, size_t kStructSize, auto kFunction>
struct Slot;

// Call is what stands in the function table for `kFunction`.
template <Name kName, size_t kStructSize, typename Args, PJRT_Error* (*kFunction)(Args*)>
struct Slot<kName, kStructSize, kFunction> {
  static PJRT_Error* Call(Args* args) {
    if (auto failure = GetControls().Record(kName.chars)) {
      return MakeError(failure->code, failure->message);
    }
    if (args->struct_size < kStructSize) {
      return MakeError(PJRT_Error_Code_INVALID_ARGUMENT,
                       std::string("struct_size of ") + kName.chars + " is " +
                           std::to_string(args->struct_size) + ", expected " +
                           std::to_string(kStructSize));
    }
    return kFunction(args);
  }
};

// Fills `slot` of the table with `function`. A macro because name, struct size and field share one
// spelling.
#define FAKE_SLOT(api, slot, function) \
  api->slot = ::torch_tpu::pjrt::fake::Slot<#slot, slot##_Args_STRUCT_SIZE, function>::Call

// Each fills its part of the table.
void FillClientSlots(PJRT_Api* api);  // client, devices, memories, compile, transfers to the device
void FillExecuteSlots(PJRT_Api* api);   // executables, buffers
void FillTopologySlots(PJRT_Api* api);  // topologies, compiling without a client

}  // namespace torch_tpu::pjrt::fake
