// Figures read out of an optimised module.
#include "aot/hlo_analysis.h"

#include <limits>
#include <set>
#include <string_view>
#include <unordered_map>

namespace torch_tpu::aot {
namespace {

constexpr std::string_view kCollectives[] = {
    "all-reduce",         "all-gather",           "reduce-scatter",    "all-to-all",
    "collective-permute", "collective-broadcast", "ragged-all-to-all",
};

bool IsCollective(std::string_view opcode) {
  for (std::string_view name : kCollectives) {
    if (opcode == name || opcode == std::string(name) + "-start") return true;
  }
  return false;
}

// Where the asynchronous operation that starts at `start` is finished.
int64_t DonePlace(const HloComputation& computation, size_t start) {
  const auto& list = computation.instructions;
  for (size_t at = start + 1; at < list.size(); ++at) {
    for (int64_t operand : list[at].operands) {
      const bool done = list[at].opcode.size() > 5 &&
                        list[at].opcode.compare(list[at].opcode.size() - 5, 5, "-done") == 0;
      if (done && operand == list[start].id) return static_cast<int64_t>(at);
    }
  }
  return static_cast<int64_t>(start);
}

}  // namespace

HloFigures ReadFigures(const HloModule& module) {
  HloFigures figures;
  std::set<std::string> targets;
  for (const HloComputation& computation : module.computations) {
    std::unordered_map<int64_t, const HloInstruction*> by_id;
    for (const HloInstruction& i : computation.instructions) by_id[i.id] = &i;
    for (size_t at = 0; at < computation.instructions.size(); ++at) {
      const HloInstruction& i = computation.instructions[at];
      if (i.opcode == "custom-call") {
        ++figures.custom_calls;
        targets.insert(i.custom_call_target);
      }
      if (computation.is_fusion || (module.is_scheduled && !computation.is_scheduled)) continue;
      ++figures.instructions;
      if (i.opcode == "fusion") ++figures.fusions;
      if (i.estimated_cycles == std::numeric_limits<int64_t>::max()) {
        ++figures.unknown_cycles;
      } else if (i.estimated_cycles > 0) {
        figures.estimated_cycles += i.estimated_cycles;
      }
      if (!IsCollective(i.opcode)) continue;
      Collective collective{&i,
                            computation.name,
                            0,
                            static_cast<int64_t>(at),
                            DonePlace(computation, at),
                            static_cast<int64_t>(computation.instructions.size())};
      for (int64_t operand : i.operands) {
        if (by_id.count(operand) != 0) collective.bytes += by_id[operand]->shape.Bytes();
      }
      figures.collectives.push_back(std::move(collective));
    }
  }
  figures.custom_call_targets.assign(targets.begin(), targets.end());
  return figures;
}

}  // namespace torch_tpu::aot
