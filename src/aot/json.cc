// JSON text.
#include "aot/json.h"

#include <cmath>
#include <cstdio>

namespace torch_tpu::aot {
namespace {

// Length of the UTF-8 sequence at the start of `text`; 0 when it is none.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  size_t length = 0;
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) length = 2;
  if (lead >= 0xe0 && lead < 0xf0) length = 3;
  if (lead >= 0xf0 && lead < 0xf5) length = 4;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

void JsonWriter::Separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::Open(char c) {
  Separate();
  text_ += c;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char c) {
  text_ += c;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Text(key);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view text) {
  Separate();
  text_ += '"';
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const char c = text[0];
    if (length == 0) {
      text_ += '?';
    } else if (c == '"' || c == '\\') {
      text_ += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      text_ += escaped;
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Integer(int64_t number) {
  Separate();
  text_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::Real(double number) {
  Separate();
  if (!std::isfinite(number)) {
    text_ += "null";
    return *this;
  }
  char digits[40];
  std::snprintf(digits, sizeof(digits), "%.17g", number);
  text_ += digits;
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Texts(std::string_view key,
                              const std::map<std::string, std::string>& texts) {
  Key(key).BeginObject();
  for (const auto& [name, text] : texts) Field(name, text);
  return EndObject();
}

}  // namespace torch_tpu::aot
