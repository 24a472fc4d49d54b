// What can be asked of a PJRT_Executable, loaded or not. Internal to pjrt/: the public faces are
// LoadedExecutable and CompiledProgram. All calls fail with UNIMPLEMENTED naming the slot when the
// plugin lacks it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/status.h"
#include "pjrt/compiled_program.h"

struct PJRT_Api;
struct PJRT_Executable;

namespace torch_tpu::pjrt {

std::string FingerprintOf(const PJRT_Api* api, PJRT_Executable* executable);  // empty: none given
Result<std::string> SerializeOf(const PJRT_Api* api, PJRT_Executable* executable);
Result<ProgramMemory> MemoryOf(const PJRT_Api* api, PJRT_Executable* executable);
Result<std::map<std::string, double>> CostsOf(const PJRT_Api* api, PJRT_Executable* executable);
Result<std::string> OptimizedProgramOf(const PJRT_Api* api, PJRT_Executable* executable,
                                       std::string* format);
Result<int64_t> GeneratedCodeBytesOf(const PJRT_Api* api, PJRT_Executable* executable);

}  // namespace torch_tpu::pjrt
