// How exactly float32 products and convolutions are computed.
#pragma once

#include <optional>
#include <string>

#include "shlo/ops.h"

namespace torch_tpu::device {

// In force on this thread: what SetThreadPrecision says, else SetDefaultPrecision, else
// torch.set_float32_matmul_precision where the program called it, else kDefault ("medium").
shlo::Precision CurrentPrecision();

// Each gives what was set before; nullopt stands for nothing.
std::optional<shlo::Precision> SetThreadPrecision(std::optional<shlo::Precision> precision);
std::optional<shlo::Precision> SetDefaultPrecision(std::optional<shlo::Precision> precision);
std::optional<shlo::Precision> DefaultPrecision();

// "medium", "high" or "highest". The other direction throws ValueError for another name.
const char* PrecisionName(shlo::Precision precision);
shlo::Precision PrecisionNamed(const std::string& name);

// Tells once what the first program with products of a higher precision than medium means for
// speed.
void WarnOfPrecision(shlo::Precision precision, bool is_cpu);

}  // namespace torch_tpu::device
