// Refusals shared by the op builders.
#pragma once

#include <string>
#include <string_view>

#include "shlo/builder.h"

namespace torch_tpu::shlo {

// Kinds of element types, to be or-ed.
enum Kind : unsigned {
  kPredKind = 1,
  kSignedKind = 2,
  kUnsignedKind = 4,
  kFloatKind = 8,
  kComplexKind = 16,
  kIntegerKind = kSignedKind | kUnsignedKind,
  kAnyKind = 31,
};
Kind KindOf(DType dtype);

// Throws BuildError "op: message".
[[noreturn]] void Fail(std::string_view op, const std::string& message);

// "op: operand must be float or complex, got tensor<2xi32>".
void CheckKind(std::string_view op, std::string_view what, Value v, unsigned kinds);
// "op: operands must have equal types, got A and B".
void CheckSameType(std::string_view op, Value a, Value b);
// "op: operands must have equal element types, got A and B".
void CheckSameDType(std::string_view op, Value a, Value b);
void CheckRankZero(std::string_view op, std::string_view what, Value v);
// 0 <= dim < rank, or "op: dimension 3 is out of range for tensor<2xf32>".
void CheckDim(std::string_view op, int64_t dim, Value of);
// Every entry within [0, rank) and none twice.
void CheckDistinctDims(std::string_view op, std::string_view what, const Dims& dims, int64_t rank);
// "op: strides must have 2 entries, got [1]".
void CheckSize(std::string_view op, std::string_view what, const Dims& values, int64_t size);

bool Contains(const Dims& values, int64_t value);

}  // namespace torch_tpu::shlo
