// The words of the refusals.
#include "shlo/check.h"

#include <algorithm>

namespace torch_tpu::shlo {

Kind KindOf(DType dtype) {
  if (dtype == DType::kPred) return kPredKind;
  if (IsSigned(dtype)) return kSignedKind;
  if (IsUnsigned(dtype)) return kUnsignedKind;
  if (IsFloat(dtype)) return kFloatKind;
  if (IsComplex(dtype)) return kComplexKind;
  throw BuildError("an element type is invalid");
}

void Fail(std::string_view op, const std::string& message) {
  throw BuildError(std::string(op) + ": " + message);
}

static std::string KindsText(unsigned kinds) {
  std::string out;
  auto add = [&](unsigned kind, const char* name) {
    if ((kinds & kind) != kind) return;
    if (!out.empty()) out += " or ";
    out += name;
  };
  add(kPredKind, "bool");
  if ((kinds & kIntegerKind) == kIntegerKind) {
    add(kIntegerKind, "integer");
  } else {
    add(kSignedKind, "signed integer");
    add(kUnsignedKind, "unsigned integer");
  }
  add(kFloatKind, "float");
  add(kComplexKind, "complex");
  return out;
}

void CheckKind(std::string_view op, std::string_view what, Value v, unsigned kinds) {
  if ((KindOf(v.dtype()) & kinds) == 0) {
    Fail(op, std::string(what) + " must be " + KindsText(kinds) + ", got " + v.type().ToString());
  }
}

void CheckSameType(std::string_view op, Value a, Value b) {
  if (a.type() != b.type()) {
    Fail(op, "operands must have equal types, got " + a.type().ToString() + " and " +
                 b.type().ToString());
  }
}

void CheckSameDType(std::string_view op, Value a, Value b) {
  if (a.dtype() != b.dtype()) {
    Fail(op, "operands must have equal element types, got " + a.type().ToString() + " and " +
                 b.type().ToString());
  }
}

void CheckRankZero(std::string_view op, std::string_view what, Value v) {
  if (v.rank() != 0) Fail(op, std::string(what) + " must have rank 0, got " + v.type().ToString());
}

void CheckDim(std::string_view op, int64_t dim, Value of) {
  if (dim < 0 || dim >= of.rank()) {
    Fail(op, "dimension " + std::to_string(dim) + " is out of range for " + of.type().ToString());
  }
}

void CheckDistinctDims(std::string_view op, std::string_view what, const Dims& dims, int64_t rank) {
  for (size_t i = 0; i < dims.size(); ++i) {
    bool twice = std::find(dims.begin(), dims.begin() + i, dims[i]) != dims.begin() + i;
    if (dims[i] < 0 || dims[i] >= rank || twice) {
      Fail(op, std::string(what) + " must be distinct and within [0, " + std::to_string(rank) +
                   "), got " + DimsToString(dims));
    }
  }
}

void CheckSize(std::string_view op, std::string_view what, const Dims& values, int64_t size) {
  if (static_cast<int64_t>(values.size()) != size) {
    Fail(op, std::string(what) + " must have " + std::to_string(size) + " entries, got " +
                 DimsToString(values));
  }
}

bool Contains(const Dims& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace torch_tpu::shlo
