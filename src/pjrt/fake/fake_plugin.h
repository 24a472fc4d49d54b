// Controls of the fake PJRT plugin, for tests. Found with dlsym (or ctypes) in the loaded library.
//
// The plugin has one device whose memory is host memory. It does not compute: outputs are
// zero-filled, and outputs that alias an input (tf.aliasing_output) hold the input's bytes. It
// checks what it is given more strictly than a real plugin: struct sizes, argument count, types and
// shapes, donated buffers that are used twice.
//
// All functions may be called from any thread. Slots are named as in the PJRT header,
// "PJRT_Client_Compile". Codes are PJRT_Error_Code numbers.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct PJRT_Api;
const struct PJRT_Api* GetPjrtApi(void);

// Back to the state after loading: no counts, failures, delay, hold or limit, and the header's API
// version. Releases held executions first and waits for them. Live buffers stay.
void torch_tpu_fake_reset(void);

// The API version that the plugin claims, for loaders that must refuse it.
void torch_tpu_fake_set_api_version(int major, int minor);

// Every execution from now on completes `milliseconds` after it starts, one after the other on the
// plugin's thread.
void torch_tpu_fake_set_execute_delay_ms(int milliseconds);

// While on, executions stay pending. Turning it off lets them run in order.
void torch_tpu_fake_set_hold(int on);

// The `nth` next call of `slot` (1: the very next) returns an error instead of doing anything.
void torch_tpu_fake_fail_next(const char* slot, int nth, int code, const char* message);

// The `nth` next execution is accepted, and its outputs and completion event then carry an error.
void torch_tpu_fake_fail_execution(int nth, int code, const char* message);

// Allocations that would exceed `bytes` in all fail with RESOURCE_EXHAUSTED. 0: no limit.
void torch_tpu_fake_set_memory_limit(int64_t bytes);

// Calls of `slot` since the last reset, failed ones included.
int64_t torch_tpu_fake_call_count(const char* slot);

// Text of the most recently compiled module and its compile options. Valid until the calling thread
// asks again.
const char* torch_tpu_fake_last_module(void);
const char* torch_tpu_fake_last_compile_options(int64_t* size);

// What is alive now: device bytes, and objects that the user of the plugin has not destroyed.
int64_t torch_tpu_fake_live_bytes(void);
int64_t torch_tpu_fake_live_buffers(void);
int64_t torch_tpu_fake_live_events(void);
int64_t torch_tpu_fake_live_executables(void);
int64_t torch_tpu_fake_live_clients(void);
int64_t torch_tpu_fake_live_errors(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
