// Why a program had to be compiled: what its key has that no stored one had.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/entry.h"
#include "cache/key.h"
#include "cache/storage.h"

namespace torch_tpu::cache {

// A key and what its parts were made from.
struct Described {
  Key key;
  std::string name;
  std::string operands;
  Pieces pieces;
};

struct Explanation {
  Described miss;
  std::optional<Described> neighbour;   // nothing: no program is known
  std::vector<std::string> components;  // that differ: "structure", "sizes", "options"
  std::vector<std::string> pieces;      // of the options that differ: "plugin", "precision"
  std::string text;                     // the same, as a sentence
};

// Compares `miss` with the nearest of `known`: the one with most components in common, the same
// operator first. `known` may hold the miss itself.
Explanation Explain(const Described& miss, const std::vector<Described>& known);

// Appends those of the storage's programs that may be near to `miss`. Reads a few dozen of them.
void AddStoredNeighbours(const Described& miss, Storage& storage, std::vector<Described>* known);

// The programs that this process met, and its last miss. Thread-safe. Keeps the newest few
// thousand.
class Journal {
 public:
  void AddMiss(Described miss);
  void AddKnown(Described known);
  std::optional<Described> last_miss() const;
  std::vector<Described> known() const;

 private:
  static constexpr size_t kMost = 4096;
  void Keep(Described known);

  mutable std::mutex mutex_;
  std::optional<Described> last_miss_;
  std::deque<Described> known_;
};

}  // namespace torch_tpu::cache
