// Registers every operator that has a lowering, and the fallback for the rest.
#pragma once

namespace torch_tpu::device {

// Once, at import, after the lowerings are linked in.
void RegisterOperators();

}  // namespace torch_tpu::device
