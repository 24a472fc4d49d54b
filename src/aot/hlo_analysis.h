// Figures that stand in an optimised module: estimated cycles, collectives, calls of unknown cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aot/hlo.h"

namespace torch_tpu::aot {

struct Collective {
  const HloInstruction* instruction = nullptr;  // points into the module
  std::string computation;                      // it runs in; a loop body runs many times
  int64_t bytes = 0;                            // of its operands
  // Places in the schedule of that computation. The same for a synchronous one.
  int64_t start = 0, done = 0, length = 0;
};

struct HloFigures {
  int64_t instructions = 0;  // that are scheduled: outside fusions and comparators
  int64_t fusions = 0;
  int64_t estimated_cycles = 0;  // sum of what the compiler wrote; loop bodies once
  int64_t unknown_cycles = 0;    // instructions whose estimate is the largest integer
  int64_t custom_calls = 0;      // each lowers optimal_seconds by 1 unless it states a cost
  std::vector<std::string> custom_call_targets;  // sorted, each once
  std::vector<Collective> collectives;
};

HloFigures ReadFigures(const HloModule& module);

}  // namespace torch_tpu::aot
