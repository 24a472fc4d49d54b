// Nearest neighbours among keys.
#include "cache/explain.h"

#include <algorithm>
#include <utility>

namespace torch_tpu::cache {
namespace {

std::string Call(const Described& d) { return d.name + "(" + d.operands + ")"; }

const std::string* Find(const Pieces& pieces, const std::string& name) {
  for (const auto& [key, value] : pieces) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::vector<std::string> DifferentPieces(const Pieces& a, const Pieces& b) {
  std::vector<std::string> names;
  for (const auto& [name, value] : a) {
    const std::string* other = Find(b, name);
    if (other == nullptr || *other != value) names.push_back(name);
  }
  return names;
}

// Smaller is nearer. Keys first; what they were made from decides between equally near ones.
int Distance(const Described& a, const Described& b) {
  int distance = 0;
  distance += a.key.structure != b.key.structure ? 16 : 0;
  distance += a.key.sizes != b.key.sizes ? 16 : 0;
  distance += a.key.options != b.key.options ? 16 : 0;
  distance += a.name != b.name ? 12 : 0;
  distance += a.operands != b.operands ? 1 : 0;
  return distance;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

Explanation Explain(const Described& miss, const std::vector<Described>& known) {
  Explanation why;
  why.miss = miss;
  const Described* nearest = nullptr;
  for (const Described& d : known) {
    if (d.key == miss.key) continue;
    if (nearest == nullptr || Distance(miss, d) <= Distance(miss, *nearest)) nearest = &d;
  }
  if (nearest == nullptr) {
    why.text = Call(miss) + " was compiled: no other program is known";
    return why;
  }
  why.neighbour = *nearest;
  if (miss.key.structure != nearest->key.structure) why.components.push_back("structure");
  if (miss.key.sizes != nearest->key.sizes) why.components.push_back("sizes");
  if (miss.key.options != nearest->key.options) {
    why.components.push_back("options");
    why.pieces = DifferentPieces(miss.pieces, nearest->pieces);
  }
  why.text = Call(miss) + " was compiled: " + Joined(why.components) +
             (why.components.size() == 1 ? " differs" : " differ") +
             " from the nearest known program, " + Call(*nearest);
  for (const std::string& name : why.pieces) {
    const std::string* theirs = Find(nearest->pieces, name);
    why.text += "; " + name + " is '" + *Find(miss.pieces, name) + "', there '" +
                (theirs == nullptr ? "" : *theirs) + "'";
  }
  return why;
}

void AddStoredNeighbours(const Described& miss, Storage& storage, std::vector<Described>* known) {
  constexpr size_t kMostReads = 48;
  const auto listed = storage.List();
  if (!listed.ok()) return;
  const auto common = [&](const StoredFile& f) {
    return (f.key.structure == miss.key.structure) + (f.key.sizes == miss.key.sizes) +
           (f.key.options == miss.key.options);
  };
  std::vector<StoredFile> files;
  for (const StoredFile& file : *listed) {
    if (common(file) > 0) files.push_back(file);
  }
  std::sort(files.begin(), files.end(), [&](const StoredFile& a, const StoredFile& b) {
    return std::pair(common(a), a.used) > std::pair(common(b), b.used);
  });
  files.resize(std::min(files.size(), kMostReads));
  for (const StoredFile& file : files) {
    const auto blob = storage.Read(file.key);
    if (!blob.ok()) continue;
    auto entry = DecodeEntry(blob->bytes, file.key);
    if (!entry.ok()) continue;
    ProgramInfo& info = entry->info;
    known->push_back({file.key, info.name, info.operands, info.pieces});
  }
}

void Journal::Keep(Described known) {
  known_.push_back(std::move(known));
  if (known_.size() > kMost) known_.pop_front();
}

void Journal::AddMiss(Described miss) {
  std::lock_guard lock(mutex_);
  last_miss_ = miss;
  Keep(std::move(miss));
}

void Journal::AddKnown(Described known) {
  std::lock_guard lock(mutex_);
  Keep(std::move(known));
}

std::optional<Described> Journal::last_miss() const {
  std::lock_guard lock(mutex_);
  return last_miss_;
}

std::vector<Described> Journal::known() const {
  std::lock_guard lock(mutex_);
  return {known_.begin(), known_.end()};
}

}  // namespace torch_tpu::cache
