// Prints attributes by appending to strings.
#include "shlo/attributes.h"

#include <charconv>

namespace torch_tpu::shlo {

void AppendInt(std::string& out, int64_t value) {
  char buffer[24];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out.append(buffer, end);
}

void AppendType(std::string& out, const TensorType& type) {
  out += "tensor<";
  for (int64_t d : type.dims) {
    AppendInt(out, d);
    out += 'x';
  }
  out += DTypeName(type.dtype);
  out += '>';
}

std::string StringText(std::string_view value) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (unsigned char c : value) {
    if (c == '"' || c == '\\' || c < 0x20 || c == 0x7f) {
      out += '\\';
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + '"';
}

std::string I64Text(int64_t value) {
  std::string out;
  AppendInt(out, value);
  return out + " : i64";
}

static void AppendList(std::string& out, const Dims& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    AppendInt(out, values[i]);
  }
}

std::string I64ArrayText(const Dims& values) {
  if (values.empty()) return "array<i64>";
  std::string out = "array<i64: ";
  AppendList(out, values);
  return out + '>';
}

std::string BoolArrayText(const std::vector<bool>& v) {
  if (v.empty()) return "array<i1>";
  std::string out = "array<i1: ";
  for (size_t i = 0; i < v.size(); ++i) {
    if (i > 0) out += ", ";
    out += v[i] ? "true" : "false";
  }
  return out + '>';
}

std::string BoolText(bool value) { return value ? "true" : "false"; }

std::string ListText(const Dims& values) {
  std::string out = "[";
  AppendList(out, values);
  return out + ']';
}

std::string EnumText(std::string_view kind, std::string_view value) {
  std::string out = "#stablehlo<";
  out += kind;
  out += ' ';
  out += value;
  return out + '>';
}

std::string PaddingText(const Dims& low, const Dims& high) {
  std::string out = "dense<";
  if (!low.empty()) out += '[';
  for (size_t i = 0; i < low.size(); ++i) {
    if (i > 0) out += ", ";
    out += '[';
    AppendInt(out, low[i]);
    out += ", ";
    AppendInt(out, high[i]);
    out += ']';
  }
  if (!low.empty()) out += ']';
  out += "> : tensor<";
  AppendInt(out, static_cast<int64_t>(low.size()));
  return out + "x2xi64>";
}

std::string TypesText(const std::vector<TensorType>& types) {
  std::string out;
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) out += ", ";
    AppendType(out, types[i]);
  }
  return out;
}

}  // namespace torch_tpu::shlo
