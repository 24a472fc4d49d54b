// What a program is compiled with, in the form PJRT wants it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"

namespace torch_tpu::pjrt {

using OptionValue = std::variant<std::string, bool, int64_t, double>;

struct CompileOptions {
  int64_t num_replicas = 1;
  int64_t num_partitions = 1;
  int64_t device_ordinal = -1;
  std::vector<int64_t> device_assignment;  // replica-major device ids; empty: the plugin's default
  bool use_spmd_partitioning = false;
  bool use_shardy = false;
  std::map<std::string, OptionValue>
      overrides;  // env_option_overrides, for example xla_cpu_... flags
  // Like overrides, which win over them, but Client::Compile leaves out those that the plugin does
  // not know.
  std::map<std::string, OptionValue> hints;

  // INVALID_ARGUMENT for values with which XLA would abort the process: fewer than one replica or
  // partition, or a device assignment whose length is not their product.
  Status Check() const;
  // CompileOptionsProto in protobuf wire format. Equal options give equal bytes.
  std::string Serialize() const;
};

}  // namespace torch_tpu::pjrt
