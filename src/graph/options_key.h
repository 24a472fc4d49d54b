// The third part of a program's key: with what, by what and for what it is compiled.
#pragma once

#include <cstdint>
#include <string>

#include "cache/entry.h"
#include "graph/call_spec.h"
#include "pjrt/pjrt.h"

namespace torch_tpu::graph {

// A hash over the source of everything that decides what a key means and what its program says:
// the lowerings, StableHLO, the views, the graph and the seam. Written by the build
// (cmake/lowering_version.cmake) whenever one line of them changes.
extern const char kLoweringVersion[];

// The version of what stands above the seam, PyTorch: its Meta kernels and decompositions decide
// about programs too. Before the first program.
void SetFrontendVersion(const std::string& version);

// Immutable. Holds what is the same for every program of a client.
class OptionsKey {
 public:
  explicit OptionsKey(const pjrt::Client& client);

  uint64_t Key(const CallSpec& spec, const pjrt::CompileOptions& options) const;
  // What Key hashes, for people.
  cache::Pieces Describe(const CallSpec& spec, const pjrt::CompileOptions& options) const;

 private:
  cache::Pieces fixed_;
  uint64_t fixed_hash_ = 0;
};

}  // namespace torch_tpu::graph
