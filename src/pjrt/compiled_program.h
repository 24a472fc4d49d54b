// Compiling for devices that are not attached: a topology by name, and a program compiled for it.
//
// Objects hold their Plugin alive and may be used from any thread. A compiled program can be asked
// and serialized; to run it, a process with such devices loads its bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "pjrt/compile_options.h"
#include "pjrt/plugin.h"

struct PJRT_Api;
struct PJRT_Executable;
struct PJRT_TopologyDescription;

namespace torch_tpu::pjrt {

struct TopologyDevice {
  int64_t id = 0;
  std::string kind;
  std::map<std::string, std::string> attributes;  // lists as "0.1.0"
};

class Topology {
 public:
  // `name` in the plugin's own words ("v5e:2x2"); `options` are passed on ("num_slices" -> 2). A
  // bad name fails with the plugin's message.
  static Result<std::shared_ptr<const Topology>> Create(
      std::shared_ptr<const Plugin> plugin, const std::string& name,
      const std::map<std::string, OptionValue>& options = {});
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  const Plugin& plugin() const { return *plugin_; }
  const std::string& platform_name() const { return platform_name_; }
  const std::string& platform_version() const { return platform_version_; }
  const std::vector<TopologyDevice>& devices() const { return devices_; }
  const std::map<std::string, std::string>& attributes() const { return attributes_; }
  const PJRT_TopologyDescription* raw() const { return topology_; }
  std::shared_ptr<const Plugin> plugin_ptr() const { return plugin_; }

 private:
  Topology(std::shared_ptr<const Plugin> plugin, PJRT_TopologyDescription* topology)
      : plugin_(std::move(plugin)), topology_(topology) {}
  Status Describe();

  std::shared_ptr<const Plugin> plugin_;
  PJRT_TopologyDescription* topology_;
  std::string platform_name_;
  std::string platform_version_;
  std::vector<TopologyDevice> devices_;
  std::map<std::string, std::string> attributes_;
};

struct ProgramMemory {  // bytes on one device; 0 where the plugin does not tell
  int64_t argument = 0, output = 0, alias = 0, temp = 0, generated_code = 0;
  int64_t host_argument = 0, host_output = 0, host_alias = 0, host_temp = 0;
  int64_t host_generated_code = 0;
  int64_t peak = 0, total = 0, total_allocation = 0, indefinite_allocation = 0;
  int64_t peak_unpadded_heap = 0;
};

// How hard the compiler works, by xla::ExecutionOptions::EffortLevel. 0 leaves the choice to it.
struct Effort {
  int64_t optimization = 0;    // 9: fastest compile; 19, 29, 39: more optimisation
  int64_t memory_fitting = 0;  // the same scale
};

class CompiledProgram {
 public:
  // Compiles a StableHLO module in textual form for `topology`. Hints of `options` are not used.
  // Compilers may abort the process on some modules: do it in a process that can be lost.
  static Result<std::unique_ptr<CompiledProgram>> Compile(const Topology& topology,
                                                          std::string_view module,
                                                          const CompileOptions& options,
                                                          const Effort& effort = {});
  ~CompiledProgram();
  CompiledProgram(const CompiledProgram&) = delete;
  CompiledProgram& operator=(const CompiledProgram&) = delete;

  std::string Fingerprint() const;  // empty where the plugin gives none
  Result<std::string> Serialize() const;
  Result<ProgramMemory> Memory() const;
  Result<std::map<std::string, double>> Costs() const;
  Result<std::string> OptimizedProgram(std::string* format) const;
  Result<int64_t> GeneratedCodeBytes() const;

 private:
  CompiledProgram(std::shared_ptr<const Plugin> plugin, PJRT_Executable* executable)
      : plugin_(std::move(plugin)), executable_(executable) {}

  std::shared_ptr<const Plugin> plugin_;
  PJRT_Executable* executable_;
};

}  // namespace torch_tpu::pjrt
