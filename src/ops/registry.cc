// The set of lowerings, filled by static initialisers of the operator files.
#include <map>
#include <string>

#include "ops/call.h"

namespace torch_tpu::ops {
namespace {

struct Registry {
  std::map<std::string, LoweringEntry, std::less<>> entries;
  std::vector<std::string> duplicates;
};

// Function-local: initialisers of other files run in no fixed order.
Registry& GetRegistry() {
  static Registry registry;
  return registry;
}

std::string Place(const LoweringEntry& e) {
  return std::string(e.file) + ":" + std::to_string(e.line);
}

void Register(LoweringEntry entry) {
  auto [it, added] = GetRegistry().entries.try_emplace(entry.name, entry);
  if (!added) {
    GetRegistry().duplicates.push_back(entry.name + " at " + Place(it->second) + " and " +
                                       Place(entry));
  }
}

}  // namespace

Registrar::Registrar(const char* name, Lowering fn, const char* file, int line,
                     LoweringOptions options) {
  Register({name, fn, nullptr, std::move(options), file, line});
}

Registrar::Registrar(const char* name, Value (*fn)(Call&), const char* file, int line,
                     LoweringOptions options) {
  Register({name, nullptr, fn, std::move(options), file, line});
}

const LoweringEntry* FindLowering(std::string_view overload) {
  const auto& entries = GetRegistry().entries;
  auto it = entries.find(overload);
  size_t dot = overload.find('.');
  if (it == entries.end() && dot != std::string_view::npos)
    it = entries.find(overload.substr(0, dot));
  return it == entries.end() ? nullptr : &it->second;
}

std::vector<const LoweringEntry*> AllLowerings() {
  std::vector<const LoweringEntry*> all;
  for (const auto& [name, entry] : GetRegistry().entries) all.push_back(&entry);
  return all;
}

std::vector<std::string> DuplicateLowerings() { return GetRegistry().duplicates; }

}  // namespace torch_tpu::ops
