// Writes JSON. For results that another process reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

namespace torch_tpu::aot {

// Calls must nest as JSON does: inside an object every value has a Key before it.
class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);

  JsonWriter& Text(std::string_view text);  // bytes that are no UTF-8 become '?'
  JsonWriter& Integer(int64_t number);
  JsonWriter& Real(double number);  // null when it is not finite
  JsonWriter& Bool(bool value);

  // Key and value in one.
  template <typename T>
  JsonWriter& Field(std::string_view key, const T& value) {
    Key(key);
    if constexpr (std::is_same_v<T, bool>) {
      return Bool(value);
    } else if constexpr (std::is_integral_v<T>) {
      return Integer(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return Real(value);
    } else {
      return Text(value);
    }
  }
  JsonWriter& Texts(std::string_view key, const std::map<std::string, std::string>& texts);

  const std::string& text() const { return text_; }

 private:
  JsonWriter& Open(char c);
  JsonWriter& Close(char c);
  void Separate();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace torch_tpu::aot
