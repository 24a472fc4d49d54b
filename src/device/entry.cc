// Tables of entries and the compile-once rule.
#include "device/entry.h"

#include "device/errors.h"

namespace torch_tpu::device {

std::shared_ptr<graph::Program> Entry::ProgramOrThrow(graph::Runtime& runtime) {
  const auto locked = [&](auto body) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
    auto result = body();
    flag_.clear(std::memory_order_release);
    return result;
  };
  if (auto program = locked([&] { return program_.lock(); })) return program;
  auto program = ValueOrThrow(runtime.Compile(*spec));
  return locked([&] {
    program_ = program;
    return program;
  });
}

Entry* EntryTable::Find(const Signature& signature) {
  // Loops call one operator with one signature again and again: look there first, without the lock.
  Entry* last = last_.load(std::memory_order_acquire);
  if (last != nullptr && Matches(*last, signature)) return last;
  const uint64_t hash = signature.Hash();
  std::lock_guard lock(mutex_);
  auto [begin, end] = entries_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (Matches(*it->second, signature)) {
      last_.store(it->second.get(), std::memory_order_release);
      return it->second.get();
    }
  }
  return nullptr;
}

Entry* EntryTable::Insert(const Signature& signature, std::unique_ptr<Entry> entry) {
  entry->structure = signature.structure();
  entry->sizes = signature.sizes();
  if (Entry* existing = Find(signature)) return existing;
  std::lock_guard lock(mutex_);
  return entries_.emplace(signature.Hash(), std::move(entry))->second.get();
}

size_t EntryTable::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace torch_tpu::device
