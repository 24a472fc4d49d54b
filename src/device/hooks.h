// Registration of the hooks that PyTorch's core calls on an accelerator.
#pragma once

namespace torch_tpu::device {

// Once, at import.
void RegisterHooks();

}  // namespace torch_tpu::device
