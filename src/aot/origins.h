// Which operator an instruction without metadata of its own belongs to.
#pragma once

#include <unordered_map>

#include "aot/hlo.h"

namespace torch_tpu::aot {

class Origins {
 public:
  // Keeps pointers into `module`.
  explicit Origins(const HloModule& module);

  // The instruction whose metadata speak for `instruction`: itself when it names an operator or is
  // a parameter, else the last named one inside its fusion, else one that it takes operands from;
  // itself when there is none.
  const HloInstruction& Of(const HloInstruction& instruction) const;

 private:
  const HloInstruction* Search(const HloInstruction& instruction, int depth) const;

  const HloModule& module_;
  std::unordered_map<int64_t, const HloInstruction*> by_id_;
};

}  // namespace torch_tpu::aot
