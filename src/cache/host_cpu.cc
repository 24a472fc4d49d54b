// /proc/cpuinfo, and samples of files.
#include "cache/host_cpu.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "cache/sha256.h"

namespace torch_tpu::cache {
namespace {

std::string ReadHostCpu() {
  std::string text;
  struct utsname names;
  if (uname(&names) == 0) text = names.machine;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    // "flags" on x86, "Features" on ARM; the model decides the scheduling of instructions.
    for (const char* wanted :
         {"vendor_id", "cpu family", "model\t", "flags", "Features", "CPU part"}) {
      if (line.starts_with(wanted)) text += '\n' + line;
    }
    if (line.empty()) break;  // the first processor stands for all
  }
  return text;
}

}  // namespace

const std::string& HostCpu() {
  static const auto* text = new std::string(ReadHostCpu());
  return *text;
}

std::string FileFingerprint(const std::string& path) {
  constexpr int64_t kSample = 4096, kSamples = 128;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0) return "";
  if (fstat(fd, &info) != 0) info.st_size = 0;
  std::string bytes = std::to_string(info.st_size);
  char buffer[kSample];
  for (int64_t i = 0; i < kSamples; ++i) {
    // The first samples are the head of the file, where an ELF file has its build id.
    const int64_t at = i < 4 ? i * kSample : info.st_size / kSamples * i;
    const ssize_t n = pread(fd, buffer, kSample, at);
    if (n > 0) bytes.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return HexOf(Sha256(bytes)).substr(0, 16);
}

}  // namespace torch_tpu::cache
