// One module compiled for a topology, and everything there is to say about it written to files.
#pragma once

#include <string>

#include "aot/request.h"
#include "base/status.h"
#include "pjrt/compiled_program.h"

namespace torch_tpu::aot {

// Writes into the job's directory: result.json always; executable.bin and optimized.hlo when the
// module compiled. result.json holds "status" (a code's name) and "message"; on success also
// "memory", "costs", "analysis" and more (python/torch_tpu/aot/report.py reads them). Fails only
// when the files cannot be written.
Status RunJob(const pjrt::Topology& topology, const Request& request, const Job& job);

// result.json for a job that did not get as far as compiling.
Status WriteFailure(const Job& job, const Status& reason);

// The topology as JSON: platform, version, attributes and devices.
std::string TopologyJson(const pjrt::Topology& topology);

}  // namespace torch_tpu::aot
