// SHA-256, for proving that a stored program is the one of a given StableHLO text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace torch_tpu::cache {

using Digest = std::array<uint8_t, 32>;

Digest Sha256(std::string_view bytes);
std::string HexOf(const Digest& digest);

}  // namespace torch_tpu::cache
