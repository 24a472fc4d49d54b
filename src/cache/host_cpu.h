// What compiled code may depend on in this host: its processor, and the plugin's file.
#pragma once

#include <string>

namespace torch_tpu::cache {

// Architecture and instruction-set features of the processor, as the kernel lists them. Object code
// of a CPU plugin is for exactly these.
const std::string& HostCpu();

// A fingerprint of a file by its size and samples of its content, in well under a millisecond
// however large it is. Equal for copies of one file on different hosts. Empty when it cannot be
// read.
std::string FileFingerprint(const std::string& path);

}  // namespace torch_tpu::cache
