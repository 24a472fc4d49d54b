// Numbers that make a call an error whatever its tensors hold: `normal_` with a negative deviation.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>

namespace torch_tpu::device {

// True when PyTorch may refuse these numbers; null for operators whose numbers are all good. Meta
// kernels do not look, and numbers are operands that a known signature does not show.
using NumberCheck = bool (*)(c10::ArrayRef<c10::IValue> args);
NumberCheck FindNumberCheck(std::string_view base_name);

}  // namespace torch_tpu::device
