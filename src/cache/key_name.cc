// Writing and reading keys as hexadecimal text.
#include "cache/key_name.h"

#include <charconv>

namespace torch_tpu::cache {
namespace {

constexpr size_t kDigits = 16;
constexpr size_t kLength = 3 * kDigits + 2;

}  // namespace

std::string KeyName(const Key& key) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string name(kLength, '-');
  size_t at = 0;
  for (uint64_t part : {key.structure, key.sizes, key.options}) {
    for (size_t i = 0; i < kDigits; ++i) name[at + i] = kHex[part >> (4 * (kDigits - 1 - i)) & 15];
    at += kDigits + 1;
  }
  return name;
}

std::optional<Key> ParseKeyName(std::string_view name) {
  Key key;
  if (name.size() != kLength) return std::nullopt;
  uint64_t* parts[] = {&key.structure, &key.sizes, &key.options};
  for (size_t i = 0; i < 3; ++i) {
    const char* first = name.data() + i * (kDigits + 1);
    const auto [end, error] = std::from_chars(first, first + kDigits, *parts[i], 16);
    if (error != std::errc() || end != first + kDigits) return std::nullopt;
  }
  // Upper-case digits and other separators would make two names of one key.
  if (KeyName(key) != name) return std::nullopt;
  return key;
}

}  // namespace torch_tpu::cache
