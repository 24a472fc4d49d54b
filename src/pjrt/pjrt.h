// A C++ client of the PJRT C API: one RAII type per object, Status for every failure.
//
// Contract for the whole layer
//   * Plugins are loaded with dlopen and never closed; the header comes from the xla-cpu-pjrt wheel
//   at build time.
//   * A slot is only called when it lies inside the plugin's function table; otherwise the call
//   returns UNIMPLEMENTED
//     naming the slot. Plugins older than API 0.57 or of another major version are refused.
//   * Buffer, LoadedExecutable and Client may be used from any thread. Buffer and LoadedExecutable
//   hold their Client
//     alive, Event holds its Plugin. An Event is used by one thread at a time. A moved-from object
//     is empty and only good for destruction and assignment.
//   * Execution is asynchronous: a failure after the call returned is stored in the output buffers'
//   events and is
//     reported by Buffer::Await, Buffer::ToHost and Event::Await.
//   * Once the process has begun to exit (std::exit or return from main), destructors no longer
//   call the plugin. Call
//     Client::ShutDownAll before that when work may be under way.
#pragma once

#include "pjrt/buffer.h"           // IWYU pragma: export
#include "pjrt/client.h"           // IWYU pragma: export
#include "pjrt/compile_options.h"  // IWYU pragma: export
#include "pjrt/event.h"            // IWYU pragma: export
#include "pjrt/executable.h"       // IWYU pragma: export
#include "pjrt/plugin.h"           // IWYU pragma: export
