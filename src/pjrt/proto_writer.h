// Writes messages in protobuf wire format: the few fields that this layer sets do not pay for a
// protobuf library. Internal to pjrt/.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace torch_tpu::pjrt {

// Appends fields of one protobuf message to a string.
class ProtoWriter {
 public:
  void Varint(int field, int64_t value) {
    Raw(static_cast<uint64_t>(field) << 3);
    Raw(static_cast<uint64_t>(value));
  }
  void Bytes(int field, std::string_view bytes) {
    Raw(static_cast<uint64_t>(field) << 3 | 2);
    Raw(bytes.size());
    bytes_ += bytes;
  }
  void Double(int field, double value) {
    Raw(static_cast<uint64_t>(field) << 3 | 1);
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void Raw(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace torch_tpu::pjrt
