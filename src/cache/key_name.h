// A key as text: what a stored program's file is called.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cache/key.h"

namespace torch_tpu::cache {

// Structure, sizes and options as three groups of 16 hexadecimal digits: "00..0a-00..0b-00..0c".
std::string KeyName(const Key& key);

// The key that KeyName wrote; nothing for any other text.
std::optional<Key> ParseKeyName(std::string_view name);

}  // namespace torch_tpu::cache
