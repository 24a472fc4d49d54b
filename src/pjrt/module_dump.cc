// Writing of module texts.
#include "pjrt/module_dump.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/log.h"

namespace torch_tpu::pjrt {

void DumpModule(const std::string& directory, std::string_view module) {
  static std::atomic<int> count{0};
  static std::atomic<bool> complained{false};
  char name[64];
  std::snprintf(name, sizeof(name), "module_%d_%05d.mlir", static_cast<int>(getpid()),
                count.fetch_add(1));
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  const std::filesystem::path path = std::filesystem::path(directory) / name;
  std::ofstream file(path, std::ios::binary);
  file.write(module.data(), static_cast<std::streamsize>(module.size()));
  file.close();
  if (!file && !complained.exchange(true)) {
    Log(LogLevel::kWarning, "TORCH_TPU_DUMP_HLO: cannot write " + path.string());
  }
}

}  // namespace torch_tpu::pjrt
