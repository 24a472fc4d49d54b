// What must be known of a StableHLO module before a TPU compiler sees it: some modules abort it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace torch_tpu::aot {

// INVALID_ARGUMENT that names line and type when a tensor type has a size `?` without a bound.
Status CheckBounded(std::string_view module);

// INVALID_ARGUMENT when `devices` are fewer than the replicas times partitions asked for, or than
// the module says of itself (mhlo.num_replicas, mhlo.num_partitions).
Status CheckDevices(std::string_view module, int64_t replicas, int64_t partitions, int64_t devices);

}  // namespace torch_tpu::aot
