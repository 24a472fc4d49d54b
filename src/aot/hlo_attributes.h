// The opcode-specific fields of an HloInstructionProto as text. Internal to aot/.
#pragma once

#include "aot/hlo.h"
#include "aot/wire.h"

namespace torch_tpu::aot {

// "{1,2,3}"
std::string Braced(const std::vector<int64_t>& numbers);

// Appends the attribute that `field` (the reader's current field) stands for; other fields are left
// alone. `replica_groups` is set as well as printed.
void AddAttribute(const WireReader& field, HloInstruction* instruction);

}  // namespace torch_tpu::aot
