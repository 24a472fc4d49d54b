// A plugin's connection to its devices: compiles programs and makes buffers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "pjrt/buffer.h"
#include "pjrt/compile_options.h"
#include "pjrt/event.h"
#include "pjrt/executable.h"

struct PJRT_Client;
struct PJRT_Device;

namespace torch_tpu::pjrt {

class Plugin;

// How much work the compiler shall put into a program.
enum class CompileEffort {
  kFull,   // for programs that are large or run often
  kQuick,  // on CPU plugins compiles three times as fast; elementwise code then runs five to twenty
           // times slower
};

struct ClientOptions {
  // Passed to the plugin as they are. When empty, a CPU plugin gets one device (its own default may
  // be four).
  std::map<std::string, OptionValue> create_options;
};

class Client : public std::enable_shared_from_this<Client> {
 public:
  static Result<std::shared_ptr<const Client>> Create(std::shared_ptr<const Plugin> plugin,
                                                      const ClientOptions& options = {});
  // Waits for the executions of every live client and closes it. For the end of a process in which
  // buffers may still be alive (Python: atexit): plugins crash when their static objects go while
  // they compute. Afterwards calls of this layer fail with FAILED_PRECONDITION and destructors
  // leave the plugin alone. No other thread may be in this layer.
  static void ShutDownAll();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Plugin& plugin() const { return *plugin_; }
  std::shared_ptr<const Plugin> plugin_ptr() const { return plugin_; }
  const std::string& platform_name() const { return platform_name_; }
  const std::string& platform_version() const { return platform_version_; }
  int num_addressable_devices() const { return static_cast<int>(devices_.size()); }
  std::string DeviceKind() const;         // of the first addressable device
  std::string DeviceDebugString() const;  // of the first addressable device

  // What programs are to be compiled with here so that they compute what StableHLO says (CPU
  // plugins otherwise lose NaN in maximum and minimum).
  CompileOptions DefaultCompileOptions(CompileEffort effort = CompileEffort::kFull) const;

  // Compiles a StableHLO module in textual form (or MLIR bytecode). The error keeps the plugin's
  // first line; the whole text stays in the status message after a line break. With
  // TORCH_TPU_DUMP_HLO the module is first written there.
  Result<std::unique_ptr<LoadedExecutable>> Compile(std::string_view module,
                                                    const CompileOptions& options) const;
  // Bytes that LoadedExecutable::Serialize of the same plugin version made. Plugins may abort on
  // other bytes: check integrity and origin first.
  Result<std::unique_ptr<LoadedExecutable>> DeserializeAndLoad(std::string_view serialized) const;

  // Copies dense row-major host data to the first addressable device. The host data may change or
  // go away as soon as the call returns.
  Result<Buffer> BufferFromHost(const void* data, DType dtype, std::span<const int64_t> dims) const;
  // As above, but `data` must stay until `done_with_host` completes (no copy on the calling thread
  // where avoidable).
  Result<Buffer> BufferFromHostAsync(const void* data, DType dtype, std::span<const int64_t> dims,
                                     Event* done_with_host) const;

  // Device statistics by name: bytes_in_use, and where known peak_bytes_in_use, num_allocs,
  // largest_alloc_size, bytes_limit, bytes_reserved, largest_free_block_bytes. UNIMPLEMENTED on CPU
  // plugins.
  Result<std::map<std::string, int64_t>> DeviceMemoryStats() const;

  PJRT_Client* raw() const { return client_; }

 private:
  explicit Client(std::shared_ptr<const Plugin> plugin) : plugin_(std::move(plugin)) {}
  Status Open(const std::map<std::string, OptionValue>& create_options);
  void Close();
  std::map<std::string, OptionValue> KnownHints(const CompileOptions& options) const;
  bool ForgetHint(const std::string& message, const CompileOptions& options) const;
  Result<Buffer> MakeBuffer(const void* data, DType dtype, std::span<const int64_t> dims,
                            int semantics, Event* done_with_host) const;

  std::shared_ptr<const Plugin> plugin_;
  PJRT_Client* client_ = nullptr;
  std::vector<PJRT_Device*> devices_;
  std::string platform_name_;
  std::string platform_version_;

  mutable std::mutex unknown_hints_mutex_;
  mutable std::set<std::string> unknown_hints_;  // that this plugin has refused
};

}  // namespace torch_tpu::pjrt
