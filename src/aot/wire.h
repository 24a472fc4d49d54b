// Reads messages in protobuf wire format, without a schema and without copies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torch_tpu::aot {

// for (WireReader r(bytes); r.Next();) switch (r.field()) ... ; then malformed() tells whether the
// message ended early. Values point into the bytes given.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  // Moves to the next field; false at the end and on malformed input.
  bool Next();
  bool malformed() const { return malformed_; }

  int field() const { return field_; }
  int64_t number() const { return static_cast<int64_t>(value_); }  // of a varint or fixed field
  std::string_view bytes() const { return bytes_; }  // of a string, bytes or message field
  std::string text() const { return std::string(bytes_); }
  // Appends the value of a repeated integer field, packed or not.
  void AppendTo(std::vector<int64_t>* numbers) const;

 private:
  bool Varint(uint64_t* value);
  bool Fixed(int size);

  std::string_view rest_;
  std::string_view bytes_;
  uint64_t value_ = 0;
  int field_ = 0;
  bool packed_ = false;
  bool malformed_ = false;
};

}  // namespace torch_tpu::aot
