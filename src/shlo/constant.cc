// Constants: numbers printed so that MLIR reads back exactly the wanted bits.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "shlo/attributes.h"
#include "shlo/check.h"
#include "shlo/ops.h"

namespace torch_tpu::shlo {
namespace {

constexpr std::string_view kOp = "stablehlo.constant";

void AppendHex(std::string& out, uint64_t bits, int digits) {
  constexpr char kHex[] = "0123456789ABCDEF";
  out += "0x";
  for (int i = digits - 1; i >= 0; --i) out += kHex[(bits >> (4 * i)) & 15];
}

// Bits of a quiet NaN or of an infinity. E4M3FN and the FNUZ types have no infinity: NaN takes its
// place.
uint64_t SpecialBits(DType dtype, bool nan, bool negative) {
  struct Bits {
    uint64_t nan, inf, sign;
  };
  auto pick = [&](Bits b) { return (nan ? b.nan : b.inf) | (negative ? b.sign : 0); };
  switch (dtype) {
    case DType::kF64:
      return pick({0x7FF8000000000000, 0x7FF0000000000000, uint64_t{1} << 63});
    case DType::kF32:
      return pick({0x7FC00000, 0x7F800000, 0x80000000});
    case DType::kBF16:
      return pick({0x7FC0, 0x7F80, 0x8000});
    case DType::kF16:
      return pick({0x7E00, 0x7C00, 0x8000});
    case DType::kF8E5M2:
      return pick({0x7E, 0x7C, 0x80});
    case DType::kF8E4M3FN:
      return pick({0x7F, 0x7F, 0x80});
    default:
      return 0x80;
  }
}

// MLIR wants a point in every float literal: "1" and "1e+10" become "1.0" and "1.0e+10".
template <typename T>
std::string_view Shortest(T value, char (&buffer)[48]) {
  char* end = std::to_chars(buffer, buffer + 40, value).ptr;
  char* exponent = end;
  for (char* p = buffer; p < end; ++p) {
    if (*p == '.') return {buffer, static_cast<size_t>(end - buffer)};
    if (*p == 'e') exponent = p;
  }
  std::memmove(exponent + 2, exponent, end - exponent);
  exponent[0] = '.';
  exponent[1] = '0';
  return {buffer, static_cast<size_t>(end + 2 - buffer)};
}

void AppendFloat(std::string& out, double value, DType dtype) {
  char buffer[48];
  if (dtype == DType::kF64 && std::isfinite(value)) {
    out += Shortest(value, buffer);
    return;
  }
  // Narrow floats go through float32, as PyTorch's own conversions do.
  float narrow = static_cast<float>(value);
  bool overflow = dtype == DType::kF16 && std::fabs(narrow) >= 65520.0f;
  if (!std::isfinite(dtype == DType::kF64 ? value : narrow) || overflow) {
    // The sign of a NaN is dropped.
    AppendHex(out, SpecialBits(dtype, std::isnan(value), !std::isnan(value) && value < 0),
              static_cast<int>(2 * DTypeSize(dtype)));
    return;
  }
  std::string_view text = Shortest(narrow, buffer);
  // MLIR rounds decimals to double first; where that rounds twice the bits are given instead.
  double parsed = 0;
  std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (dtype == DType::kF32 &&
      std::bit_cast<uint32_t>(static_cast<float>(parsed)) != std::bit_cast<uint32_t>(narrow)) {
    AppendHex(out, std::bit_cast<uint32_t>(narrow), 8);
  } else {
    out += text;
  }
}

void AppendInteger(std::string& out, int64_t value, DType dtype) {
  int bits = static_cast<int>(8 * DTypeSize(dtype));
  if (bits < 64) {
    uint64_t low = static_cast<uint64_t>(value) << (64 - bits);
    value = IsSigned(dtype) ? static_cast<int64_t>(low) >> (64 - bits)
                            : static_cast<int64_t>(low >> (64 - bits));
  }
  if (dtype == DType::kU64 && value < 0) {
    out += std::to_string(static_cast<uint64_t>(value));
  } else {
    AppendInt(out, value);
  }
}

int64_t ExactInteger(double value, DType dtype) {
  // 2^63 itself is allowed for ui64, whose upper half is written as a negative int64.
  if (value != std::floor(value) || value < -0x1p63 || value >= 0x1p64 ||
      (value >= 0x1p63 && dtype != DType::kU64)) {
    Fail(kOp, std::to_string(value) + " is no " + std::string(DTypeName(dtype)));
  }
  return value >= 0x1p63 ? static_cast<int64_t>(static_cast<uint64_t>(value))
                         : static_cast<int64_t>(value);
}

void AppendElement(std::string& out, double value, DType dtype) {
  if (dtype == DType::kPred) {
    out += value != 0 ? "true" : "false";
  } else if (IsInteger(dtype)) {
    AppendInteger(out, ExactInteger(value, dtype), dtype);
  } else if (IsComplex(dtype)) {
    out += '(';
    AppendFloat(out, value, RealType(dtype));
    out += ", 0.0)";
  } else {
    AppendFloat(out, value, dtype);
  }
}

void AppendElement(std::string& out, int64_t value, DType dtype) {
  if (IsInteger(dtype)) {
    AppendInteger(out, value, dtype);
  } else {
    AppendElement(out, static_cast<double>(value), dtype);
  }
}

void AppendElement(std::string& out, std::complex<double> value, DType dtype) {
  if (!IsComplex(dtype)) {
    if (value.imag() != 0) Fail(kOp, "a complex number is no " + std::string(DTypeName(dtype)));
    return AppendElement(out, value.real(), dtype);
  }
  out += '(';
  AppendFloat(out, value.real(), RealType(dtype));
  out += ", ";
  AppendFloat(out, value.imag(), RealType(dtype));
  out += ')';
}

Value EmitConstant(Builder& b, std::string elements, const TensorType& type) {
  std::string text = "dense<" + std::move(elements) + "> : ";
  AppendType(text, type);
  return b.Emit1(kOp, {}, {{"value", std::move(text)}}, type);
}

template <typename T>
Value Splat(Builder& b, T value, const TensorType& type) {
  KindOf(type.dtype);
  std::string element;
  if (NumElements(type.dims) != 0) AppendElement(element, value, type.dtype);
  return EmitConstant(b, std::move(element), type);
}

template <typename T>
Value Table(Builder& b, std::span<const T> values, DType dtype) {
  KindOf(dtype);
  std::string list;
  for (size_t i = 0; i < values.size(); ++i) {
    list += i == 0 ? "[" : ", ";
    AppendElement(list, values[i], dtype);
  }
  if (!values.empty()) list += ']';
  return EmitConstant(b, std::move(list), {dtype, {static_cast<int64_t>(values.size())}});
}

}  // namespace

Value constant(Builder& b, double value, const TensorType& type) {
  Value v = Splat(b, value, type);
  b.RememberSplat(v, value);
  return v;
}

Value constant(Builder& b, int64_t value, const TensorType& type) {
  Value v = Splat(b, value, type);
  constexpr int64_t kExact = int64_t{1} << 53;
  if (value >= -kExact && value <= kExact) b.RememberSplat(v, static_cast<double>(value));
  return v;
}

Value constant(Builder& b, std::complex<double> value, const TensorType& type) {
  Value v = Splat(b, value, type);
  if (value.imag() == 0) b.RememberSplat(v, value.real());
  return v;
}

Value constant(Builder& b, std::span<const int64_t> values, DType dtype) {
  return Table(b, values, dtype);
}

Value constant(Builder& b, std::span<const double> values, DType dtype) {
  return Table(b, values, dtype);
}

Value iota(Builder& b, int64_t dimension, const TensorType& type) {
  constexpr std::string_view kIota = "stablehlo.iota";
  if (KindOf(type.dtype) == kPredKind || dimension < 0 || dimension >= type.rank()) {
    Fail(kIota,
         "cannot count along dimension " + std::to_string(dimension) + " of " + type.ToString());
  }
  return b.Emit1(kIota, {}, {{"iota_dimension", I64Text(dimension)}}, type);
}

}  // namespace torch_tpu::shlo
