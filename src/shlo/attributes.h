// MLIR text of the attribute kinds that StableHLO ops use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shlo/types.h"

namespace torch_tpu::shlo {

void AppendInt(std::string& out, int64_t value);
void AppendType(std::string& out, const TensorType& type);
// A double-quoted MLIR string, with quotes, backslashes and control characters escaped.
std::string StringText(std::string_view value);

std::string I64Text(int64_t value);                     // "2 : i64"
std::string I64ArrayText(const Dims& values);           // "array<i64: 1, 2>"
std::string BoolArrayText(const std::vector<bool>& v);  // "array<i1: true, false>"
std::string BoolText(bool value);                       // "true"
std::string ListText(const Dims& values);               // "[1, 2]"
// "#stablehlo<comparison_direction EQ>".
std::string EnumText(std::string_view kind, std::string_view value);
// "dense<[[1, 0], [1, 0]]> : tensor<2x2xi64>", one row a dimension.
std::string PaddingText(const Dims& low, const Dims& high);
// "tensor<2xf32>, tensor<i1>".
std::string TypesText(const std::vector<TensorType>& types);

}  // namespace torch_tpu::shlo
