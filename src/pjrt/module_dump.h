// Writes module texts to a directory, for TORCH_TPU_DUMP_HLO.
#pragma once

#include <string>
#include <string_view>

namespace torch_tpu::pjrt {

// Writes `module` to "<directory>/module_<process>_<count>.mlir", making the directory when needed.
// A failure is logged once in the process and otherwise ignored. Safe from any thread.
void DumpModule(const std::string& directory, std::string_view module);

}  // namespace torch_tpu::pjrt
