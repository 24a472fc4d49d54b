// A fast 64-bit checksum against damage by accident. Its values are stored: never change it without
// a new kFormatVersion.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace torch_tpu::cache {

// Four independent lanes of eight bytes, so that it runs at the speed of memory.
inline uint64_t Checksum(std::string_view bytes, uint64_t seed = 0) {
  constexpr uint64_t kA = 0x9e3779b97f4a7c15, kB = 0xbf58476d1ce4e5b9, kC = 0x94d049bb133111eb;
  uint64_t lanes[4] = {seed ^ kA, seed ^ kB, seed ^ kC, seed + kA};
  const auto mix = [](uint64_t state, uint64_t word) {
    return std::rotl((state ^ word) * kA, 29) * kB;
  };
  const uint64_t size = bytes.size();
  for (; bytes.size() >= 32; bytes.remove_prefix(32)) {
    for (int i = 0; i < 4; ++i) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + 8 * i, 8);
      lanes[i] = mix(lanes[i], word);
    }
  }
  uint64_t state = size * kC;
  for (uint64_t lane : lanes) state = mix(state, lane);
  for (char byte : bytes) state = mix(state, static_cast<uint8_t>(byte));
  state ^= state >> 31;
  state *= kC;
  return state ^ state >> 32;
}

}  // namespace torch_tpu::cache
