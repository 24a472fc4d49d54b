// A compiled program that is ready to run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "pjrt/event.h"

struct PJRT_Api;
struct PJRT_Buffer;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;

namespace torch_tpu::pjrt {

class Client;

struct MemoryStats {  // bytes
  int64_t argument = 0, output = 0, alias = 0, temp = 0, generated_code = 0, peak = 0;
};

class LoadedExecutable {
 public:
  // Takes ownership of `executable` and asks it for its outputs and fingerprint.
  static Result<std::unique_ptr<LoadedExecutable>> Create(std::shared_ptr<const Client> client,
                                                          PJRT_LoadedExecutable* executable);
  ~LoadedExecutable();
  LoadedExecutable(const LoadedExecutable&) = delete;
  LoadedExecutable& operator=(const LoadedExecutable&) = delete;

  int num_outputs() const { return num_outputs_; }
  const std::string& fingerprint() const {
    return fingerprint_;
  }  // empty where the plugin gives none

  // Launches on one device. `args` and `outputs` are raw handles: the hot path allocates nothing.
  // `outputs` has num_outputs() entries that the caller then owns; after a failure they hold
  // nothing. Arguments listed in `non_donatable` (ascending) are copied rather than donated even
  // when the program says that they alias an output. `done`, when given, receives the event of the
  // whole execution.
  Status Execute(std::span<PJRT_Buffer* const> args, std::span<const int64_t> non_donatable,
                 std::span<PJRT_Buffer*> outputs, Event* done = nullptr) const;

  // For DeserializeAndLoad in a process with the same plugin version.
  Result<std::string> Serialize() const;
  Result<MemoryStats> GetMemoryStats() const;
  // Cost analysis by name ("flops", "bytes accessed", ...). UNIMPLEMENTED on some plugins.
  Result<std::map<std::string, double>> GetCostAnalysis() const;
  // The program after optimisation. `format` (may be null) gets its form: "hlo", "hlo_with_config"
  // or "mlir".
  Result<std::string> OptimizedProgram(std::string* format) const;

 private:
  LoadedExecutable(std::shared_ptr<const Client> client, PJRT_LoadedExecutable* executable);

  std::shared_ptr<const Client> client_;
  const PJRT_Api* api_;
  PJRT_LoadedExecutable* executable_;
  PJRT_Executable* unloaded_ = nullptr;
  int num_outputs_ = 0;
  std::string fingerprint_;
};

}  // namespace torch_tpu::pjrt
