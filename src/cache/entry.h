// The stored form of a compiled program: what tiers 2 and 3 write and read.
//
// Nothing that is read is believed: lengths are checked before anything is allocated, the checksum
// covers every byte, and a file of another format version, another key or with bytes left over is
// refused. An entry that passes was written by this library and arrived whole; that it was not made
// by an enemy who knows the format is what the owner and the mode of the file are for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cache/key.h"
#include "cache/sha256.h"

namespace torch_tpu::cache {

inline constexpr uint32_t kFormatVersion = 1;

// Named parts of the options key, for people: ("plugin", "cpu ..."), ("lowerings", "5f3c...").
using Pieces = std::vector<std::pair<std::string, std::string>>;

// What is known of a program besides its machine code.
struct ProgramInfo {
  std::string name;      // "aten::add.Tensor"
  std::string operands;  // "f32[2,3], s64[]"
  Pieces pieces;
  std::vector<std::string> checks;  // messages of Debug checks, and whether each is an IndexError
  std::vector<bool> check_is_index;
  bool reports_completion = true;
  uint64_t interface = 0;  // hash of operand and result types, results and aliases
  int64_t text_bytes = 0;  // of the StableHLO text
  int64_t compile_microseconds = 0;
  int64_t created = 0;  // Unix time
};

struct Entry {
  Key key;
  Digest text_hash{};  // of the StableHLO text
  ProgramInfo info;
  std::string_view executable;  // as the plugin serialized it; points into the decoded bytes
};

std::string EncodeEntry(const Entry& entry);

// The entry in `bytes`. Fails with DATA_LOSS, saying what is wrong.
Result<Entry> DecodeEntry(std::string_view bytes);

// The same, and refuses an entry of another key than `key`.
Result<Entry> DecodeEntry(std::string_view bytes, const Key& key);

}  // namespace torch_tpu::cache
