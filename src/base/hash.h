// A fast 64-bit hash over words, for keys of in-process tables.
//
// Not for untrusted input and not a checksum. The same words give the same hash in every process,
// but the function may change between versions of this library: never store its values.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace torch_tpu {

// Folds words one after the other; order and count matter. One multiplication a word.
class Hasher {
 public:
  explicit constexpr Hasher(uint64_t seed = 0) : state_(seed ^ 0x9e3779b97f4a7c15) {}

  constexpr Hasher& Add(uint64_t word) {
    state_ = Fold(state_ ^ word, 0xd6e8feb86659fd93);
    return *this;
  }
  constexpr Hasher& Add(std::span<const int64_t> words) {
    Add(words.size());
    for (int64_t word : words) Add(static_cast<uint64_t>(word));
    return *this;
  }
  Hasher& Add(std::string_view bytes) {
    Add(bytes.size());
    while (bytes.size() > 8) {
      Add(Load(bytes.data(), 8));
      bytes.remove_prefix(8);
    }
    return Add(Load(bytes.data(), bytes.size()));
  }

  // The hash of everything added so far. More may be added afterwards.
  constexpr uint64_t Finish() const {
    return Fold(state_ ^ 0xa0761d6478bd642f, 0xe7037ed1a0b428db);
  }

 private:
  // Both halves of the 128-bit product, so that every input bit reaches every output bit in two
  // rounds.
  static constexpr uint64_t Fold(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  static uint64_t Load(const char* data, size_t size) {
    uint64_t word = 0;
    if (size > 0) std::memcpy(&word, data, size);
    return word;
  }

  uint64_t state_;
};

}  // namespace torch_tpu
