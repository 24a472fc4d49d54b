// Shapes of HLO: text and size in memory.
#include <iterator>

#include "aot/hlo.h"
#include "aot/text.h"

namespace torch_tpu::aot {
namespace {

struct ElementType {
  const char* name;
  int bits;
};

// Indexed by xla::PrimitiveType.
constexpr ElementType kElementTypes[] = {
    {"invalid", 0},    {"pred", 8},  {"s8", 8},       {"s16", 16},          {"s32", 32},
    {"s64", 64},       {"u8", 8},    {"u16", 16},     {"u32", 32},          {"u64", 64},
    {"f16", 16},       {"f32", 32},  {"f64", 64},     {"tuple", 0},         {"opaque", 0},
    {"c64", 64},       {"bf16", 16}, {"token", 0},    {"c128", 128},        {"f8e5m2", 8},
    {"f8e4m3fn", 8},   {"s4", 4},    {"u4", 4},       {"f8e4m3b11fnuz", 8}, {"f8e5m2fnuz", 8},
    {"f8e4m3fnuz", 8}, {"s2", 2},    {"u2", 2},       {"f8e4m3", 8},        {"f8e3m4", 8},
    {"s1", 1},         {"u1", 1},    {"f4e2m1fn", 4}, {"f8e8m0fnu", 8},     {"buffer", 0},
};
constexpr int kTuple = 13;

const ElementType& TypeOf(int element_type) {
  const bool known = element_type > 0 && element_type < static_cast<int>(std::size(kElementTypes));
  return kElementTypes[known ? element_type : 0];
}

std::string Join(const std::vector<int64_t>& numbers) {
  std::string text;
  for (int64_t n : numbers) AppendItem(&text, ",", std::to_string(n));
  return text;
}

int64_t RoundUp(int64_t n, int64_t step) { return step > 0 ? (n + step - 1) / step * step : n; }

}  // namespace

bool HloShape::is_tuple() const { return element_type == kTuple; }

std::string HloShape::ToString() const {
  std::string text;
  if (is_tuple()) {
    for (const HloShape& part : tuple) AppendItem(&text, ", ", part.ToString());
    return Cat({"(", text, ")"});
  }
  text = std::string(TypeOf(element_type).name) + "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ",";
    if (i < dynamic.size() && dynamic[i] != 0) text += "<=";
    text += std::to_string(dims[i]);
  }
  text += "]";
  std::string layout = Join(minor_to_major);
  if (!tiles.empty()) {
    layout += ":T";
    for (const auto& tile : tiles) layout += Cat({"(", Join(tile), ")"});
  }
  if (memory_space != 0) {
    layout += (tiles.empty() ? ":S(" : "S(") + std::to_string(memory_space) + ")";
  }
  return layout.empty() ? text : Cat({text, "{", layout, "}"});
}

int64_t HloShape::Bytes() const {
  if (is_tuple()) {
    int64_t total = 0;
    for (const HloShape& part : tuple) total += part.Bytes();
    return total;
  }
  // The first tile covers the most minor dimensions of the physical shape.
  const std::vector<int64_t> tile = tiles.empty() ? std::vector<int64_t>{} : tiles[0];
  int64_t elements = 1;
  for (size_t minor = 0; minor < dims.size(); ++minor) {
    const int64_t dim =
        minor < minor_to_major.size() ? minor_to_major[minor] : static_cast<int64_t>(minor);
    const int64_t size =
        dim >= 0 && dim < static_cast<int64_t>(dims.size()) ? dims[static_cast<size_t>(dim)] : 1;
    elements *= minor < tile.size() ? RoundUp(size, tile[tile.size() - 1 - minor]) : size;
  }
  if (tile.size() > dims.size() && !dims.empty()) {
    for (size_t i = 0; i < tile.size() - dims.size(); ++i) elements *= tile[i];
  }
  const int64_t bits = element_bits != 0 ? element_bits : TypeOf(element_type).bits;
  return (elements * bits + 7) / 8;
}

}  // namespace torch_tpu::aot
