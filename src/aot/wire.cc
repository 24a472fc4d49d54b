// The protobuf wire format.
#include "aot/wire.h"

namespace torch_tpu::aot {

bool WireReader::Varint(uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool WireReader::Fixed(int size) {
  if (rest_.size() < static_cast<size_t>(size)) return false;
  value_ = 0;
  for (int i = 0; i < size; ++i) {
    value_ |= static_cast<uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  }
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::Next() {
  if (malformed_ || rest_.empty()) return false;
  uint64_t tag = 0;
  bool good = Varint(&tag);
  field_ = static_cast<int>(tag >> 3);
  packed_ = false;
  bytes_ = {};
  switch (tag & 7) {
    case 0:
      good = good && Varint(&value_);
      break;
    case 1:
      good = good && Fixed(8);
      break;
    case 2: {
      uint64_t size = 0;
      good = good && Varint(&size) && size <= rest_.size();
      if (!good) break;
      bytes_ = rest_.substr(0, size);
      rest_.remove_prefix(size);
      packed_ = true;
      break;
    }
    case 5:
      good = good && Fixed(4);
      break;
    default:
      good = false;
  }
  malformed_ = !good;
  return good;
}

void WireReader::AppendTo(std::vector<int64_t>* numbers) const {
  if (!packed_) {
    numbers->push_back(number());
    return;
  }
  WireReader list(bytes_);
  uint64_t value = 0;
  while (!list.rest_.empty() && list.Varint(&value)) {
    numbers->push_back(static_cast<int64_t>(value));
  }
}

}  // namespace torch_tpu::aot
