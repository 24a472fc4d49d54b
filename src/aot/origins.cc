// Metadata by way of fusions and operands.
#include "aot/origins.h"

namespace torch_tpu::aot {
namespace {

constexpr int kMaxDepth = 8;  // copies, bitcasts and tuples come in short chains

}  // namespace

Origins::Origins(const HloModule& module) : module_(module) {
  for (const HloComputation& computation : module.computations) {
    for (const HloInstruction& i : computation.instructions) by_id_[i.id] = &i;
  }
}

const HloInstruction& Origins::Of(const HloInstruction& instruction) const {
  const HloInstruction* found = Search(instruction, 0);
  return found != nullptr ? *found : instruction;
}

const HloInstruction* Origins::Search(const HloInstruction& instruction, int depth) const {
  if (instruction.opcode == "parameter") return depth == 0 ? &instruction : nullptr;
  if (!instruction.op_name.empty()) return &instruction;
  if (instruction.opcode == "fusion") {
    for (int64_t id : instruction.called) {
      const HloComputation* fused = module_.Find(id);
      if (fused == nullptr) continue;
      for (auto i = fused->instructions.rbegin(); i != fused->instructions.rend(); ++i) {
        if (i->opcode != "parameter" && !i->op_name.empty()) return &*i;
      }
    }
  }
  if (depth == kMaxDepth) return nullptr;
  for (int64_t operand : instruction.operands) {
    const auto found = by_id_.find(operand);
    if (found == by_id_.end()) continue;
    if (const HloInstruction* origin = Search(*found->second, depth + 1)) return origin;
  }
  return nullptr;
}

}  // namespace torch_tpu::aot
