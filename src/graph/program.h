// A compiled program, ready to launch.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "cache/entry.h"
#include "graph/call_spec.h"
#include "pjrt/pjrt.h"

namespace torch_tpu::graph {

// A compiled program and what its outputs are.
class Program {
 public:
  // `info` as DescribeProgram makes it or as it was stored.
  Program(const CallSpec& spec, cache::ProgramInfo info, const cache::Digest& text_hash,
          std::unique_ptr<pjrt::LoadedExecutable> executable);

  const std::string& name() const { return info_.name; }
  const pjrt::LoadedExecutable& executable() const { return *executable_; }
  int num_results() const { return static_cast<int>(results_.size()); }
  const TensorType* result(int i) const { return results_[i]; }
  const std::vector<std::string>& checks() const { return info_.checks; }
  const std::vector<bool>& check_is_index() const { return info_.check_is_index; }
  const cache::ProgramInfo& info() const { return info_; }
  const cache::Digest& text_hash() const { return text_hash_; }  // of the StableHLO text

  // Whether launches ask for an event of their completion. Small programs do not: the event costs a
  // third of their launch, and their results say when they are ready.
  bool reports_completion() const { return info_.reports_completion; }

  // Device memory that a launch takes beside operands and results; 0 where the plugin does not say.
  int64_t temporary_bytes() const { return temporary_bytes_; }

  // For tier 1: an estimate of host memory, and when it was last launched.
  int64_t cache_bytes() const { return cache_bytes_; }
  uint64_t last_used() const { return last_used_.load(std::memory_order_relaxed); }
  void Touch(uint64_t clock) const { last_used_.store(clock, std::memory_order_relaxed); }

 private:
  std::vector<const TensorType*> results_;
  cache::ProgramInfo info_;
  cache::Digest text_hash_;
  std::unique_ptr<pjrt::LoadedExecutable> executable_;
  int64_t temporary_bytes_ = 0;
  int64_t cache_bytes_ = 0;
  mutable std::atomic<uint64_t> last_used_{0};
};

// "f32[2,3], s64[]": the operands of a call, the first of many.
std::string OperandsText(const CallSpec& spec);

// A hash of what a launch takes for granted: operand and result types, their order, aliases. A
// stored program with another one is not the program of this call.
uint64_t InterfaceOf(const CallSpec& spec);

// What is stored beside the machine code. Key parts and times are left to the caller.
cache::ProgramInfo DescribeProgram(const CallSpec& spec, Module module);

}  // namespace torch_tpu::graph
