// The one process-wide object: the plugin's client, made at the first use, and what every launch
// shares.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph/call_spec.h"
#include "graph/compiler.h"
#include "graph/in_flight.h"
#include "graph/program.h"
#include "graph/value.h"
#include "pjrt/pjrt.h"

namespace torch_tpu::graph {

// What happened so far in this process. Thread-safe, relaxed.
struct Counters {
  std::atomic<int64_t> launches{0};
  std::atomic<int64_t> compiles{0};
  std::atomic<int64_t> compile_microseconds{0};
  std::atomic<int64_t> host_to_device{0};
  std::atomic<int64_t> device_to_host{0};
  std::atomic<int64_t> fallbacks{0};
  std::atomic<int64_t> traces{0};  // decompositions traced

  static Counters& Get();
  void Reset();
};

// One input of a launch.
struct OperandRef {
  ValueRef value;  // a buffer; or null for an element made on the spot:
  DType dtype = DType::kInvalid;
  ScalarBits bits;
};

// A failed Debug check.
struct CheckFailure {
  std::string message;
  bool index_error = true;
};

class Runtime {
 public:
  // Where Python found plugins: (name, path) in order of preference. Before the first Get.
  static void SetPluginCandidates(std::vector<std::pair<std::string, std::string>> candidates);
  // Opens the plugin at the first call. A failure is not remembered as success: the same message
  // comes each time.
  static Result<Runtime*> Get();
  static bool initialized();

  const pjrt::Client& client() const { return *client_; }
  std::shared_ptr<const pjrt::Client> client_ptr() const { return client_; }
  const std::string& plugin_path() const { return plugin_path_; }
  bool is_cpu() const { return is_cpu_; }

  // The program of a call, from the program cache or compiled. From any thread.
  Result<std::shared_ptr<Program>> Compile(const CallSpec& spec) {
    return compiler_->Compile(spec);
  }
  Compiler& compiler() { return *compiler_; }

  // For the end of the process (Python: atexit): waits a little for programs that are being stored,
  // ends the threads of this library and closes every client.
  static void ShutDown();

  // Sends one program. `operands` as spec.operands; `non_donatable` lists (ascending) operands that
  // somebody else still holds. Gives the results and, after waiting, the failed checks of Debug
  // mode. Pushes completion to `in_flight`. The operands' references may be dropped when it
  // returns. New values are appended to `results`; if it holds deferred ones, these are fulfilled
  // instead.
  Status Launch(const Program& program, std::span<const OperandRef> operands,
                std::span<const int64_t> non_donatable, const char* origin, InFlight& in_flight,
                std::vector<ValueRef>* results, std::vector<CheckFailure>* failures);

  // The bytes of a splat or an already computed buffer as a buffer value: splats are filled by a
  // small program.
  Result<ValueRef> Materialize(const ValueRef& value, InFlight& in_flight);

  // A new buffer from dense row-major host bytes; `data` may change when the call returns.
  Result<ValueRef> FromHost(const void* data, const TensorType* type, const char* origin);
  // Waits, then copies the value's elements, row-major, to `dst`.
  Status ToHost(const ValueRef& value, void* dst, int64_t bytes, InFlight& in_flight);
  // As ToHost, without waiting: the copy is part of `in_flight`. `memory` keeps `dst` until then.
  Status StartToHost(const ValueRef& value, void* dst, int64_t bytes, InFlight& in_flight,
                     std::shared_ptr<void> memory);

 private:
  Runtime() = default;
  static Result<std::unique_ptr<Runtime>> Open();

  std::shared_ptr<const pjrt::Client> client_;
  std::string plugin_path_;
  bool is_cpu_ = false;
  std::unique_ptr<Compiler> compiler_;
  std::mutex splat_mutex_;
  std::map<const TensorType*, std::shared_ptr<Program>> splat_programs_;
};

}  // namespace torch_tpu::graph
