// Tables of element type facts.
#include "base/dtype.h"

#include <algorithm>

namespace torch_tpu {
namespace {

struct Facts {
  std::string_view name;
  int64_t size;
};

constexpr Facts kFacts[kNumDTypes] = {
    {"invalid", 0},       {"i1", 1},       {"i8", 1},     {"i16", 2},        {"i32", 4},
    {"i64", 8},           {"ui8", 1},      {"ui16", 2},   {"ui32", 4},       {"ui64", 8},
    {"f16", 2},           {"bf16", 2},     {"f32", 4},    {"f64", 8},        {"complex<f32>", 8},
    {"complex<f64>", 16}, {"f8E4M3FN", 1}, {"f8E5M2", 1}, {"f8E4M3FNUZ", 1}, {"f8E5M2FNUZ", 1},
};

}  // namespace

std::string_view DTypeName(DType dtype) { return kFacts[static_cast<int>(dtype)].name; }

int64_t DTypeSize(DType dtype) { return kFacts[static_cast<int>(dtype)].size; }

DType RealType(DType dtype) {
  if (dtype == DType::kC64) return DType::kF32;
  if (dtype == DType::kC128) return DType::kF64;
  return dtype;
}

DType ComplexType(DType dtype) {
  if (dtype == DType::kF32) return DType::kC64;
  if (dtype == DType::kF64) return DType::kC128;
  return DType::kInvalid;
}

int64_t NumElements(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

Dims ContiguousStrides(const Dims& dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(dims[i], 1);
  }
  return strides;
}

std::string DimsToString(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(dims[i]);
  }
  return out + "]";
}

}  // namespace torch_tpu
