// The key of a compiled program: three 64-bit numbers, made without building any StableHLO.
#pragma once

#include <cstdint>
#include <functional>

namespace torch_tpu::cache {

struct Key {
  uint64_t structure = 0;  // operators, dtypes, layouts, static attributes: everything but sizes
  uint64_t sizes = 0;      // tensor sizes, strides and static offsets
  uint64_t options = 0;    // compile options, plugin and its runtime
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    return key.structure ^ (key.sizes * 0x9E3779B97F4A7C15ull) ^ (key.options << 1);
  }
};

}  // namespace torch_tpu::cache
