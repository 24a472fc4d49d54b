// Boolean and host indices of aten::index, aten::index_put and relatives.
#pragma once

#include <optional>

#include "device/op_info.h"

namespace torch_tpu::device {

// A result that is as long as it can become along `dim`; its first `count` entries are meant.
struct CountedDim {
  int64_t dim = 0;
  int64_t count = 0;
};

// Turns boolean indices on the stack into integer ones, which waits for their count, and moves host
// indices to the device. A functional call with nothing but one mask gets indices as long as the
// mask, so that one program serves every count: the caller narrows the result.
std::optional<CountedDim> PrepareIndices(const OpInfo& info, torch::jit::Stack* stack);

// x[mask] = number, which needs no count: true when it was done and the stack holds the result.
bool FillThroughMask(const OpInfo& info, torch::jit::Stack* stack);

}  // namespace torch_tpu::device
