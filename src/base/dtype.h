// Element types known to every layer, and dimension lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torch_tpu {

using Dims = std::vector<int64_t>;

// Names follow StableHLO. Numbers are our own: they enter cache keys, so append only.
enum class DType : uint8_t {
  kInvalid = 0,
  kPred,
  kS8,
  kS16,
  kS32,
  kS64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kC64,
  kC128,
  kF8E4M3FN,
  kF8E5M2,
  kF8E4M3FNUZ,
  kF8E5M2FNUZ,
};
inline constexpr int kNumDTypes = 20;

// StableHLO element type: "i1", "i8", "ui8", "bf16", "f32", "complex<f32>", "f8E4M3FN", ...
std::string_view DTypeName(DType dtype);
// Bytes per element in memory; kPred is 1. 0 for kInvalid.
int64_t DTypeSize(DType dtype);

constexpr bool IsFloat(DType d) {
  return (d >= DType::kF16 && d <= DType::kF64) ||
         (d >= DType::kF8E4M3FN && d <= DType::kF8E5M2FNUZ);
}
constexpr bool IsComplex(DType d) { return d == DType::kC64 || d == DType::kC128; }
constexpr bool IsSigned(DType d) { return d >= DType::kS8 && d <= DType::kS64; }
constexpr bool IsUnsigned(DType d) { return d >= DType::kU8 && d <= DType::kU64; }
constexpr bool IsInteger(DType d) { return IsSigned(d) || IsUnsigned(d); }
// Floats of fewer than 32 bits: PyTorch computes elementwise operators on these in float32.
constexpr bool IsReducedFloat(DType d) {
  return IsFloat(d) && d != DType::kF32 && d != DType::kF64;
}

// kC64 -> kF32, kC128 -> kF64, everything else itself.
DType RealType(DType dtype);
// kF32 -> kC64, kF64 -> kC128; kInvalid otherwise.
DType ComplexType(DType dtype);

// Product of dims; 1 for a scalar.
int64_t NumElements(const Dims& dims);
// Row-major strides in elements. Like PyTorch, a dimension of size 0 counts as 1.
Dims ContiguousStrides(const Dims& dims);
// "[2, 3]".
std::string DimsToString(const Dims& dims);

}  // namespace torch_tpu
