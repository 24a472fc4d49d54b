// From the words that describe a call to the first two parts of its key.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/hash.h"
#include "cache/key.h"

namespace torch_tpu::cache {

// `structure` and `sizes` are the words of a signature or of a region. Equal words give equal keys
// in every process of this build; the options key carries the version of everything that writes
// words.
inline Key MakeKey(std::string_view name, std::span<const uint64_t> structure,
                   std::span<const uint64_t> sizes) {
  Key key;
  key.structure = Hasher().Add(name).Add(structure.size()).Finish();
  for (uint64_t word : structure) key.structure = Hasher(key.structure).Add(word).Finish();
  for (uint64_t word : sizes) key.sizes = Hasher(key.sizes).Add(word).Finish();
  return key;
}

}  // namespace torch_tpu::cache
