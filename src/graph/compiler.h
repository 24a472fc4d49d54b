// From a call to its program: tier 1, tier 2, tier 3, else the plugin's compiler.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "cache/explain.h"
#include "cache/tier1.h"
#include "cache/tiers.h"
#include "graph/call_spec.h"
#include "graph/options_key.h"
#include "graph/program.h"
#include "pjrt/pjrt.h"

namespace torch_tpu::graph {

// Thread-safe: any number of threads may compile at once, and those that ask for one program share
// the work.
class Compiler {
 public:
  // Work in the threads of `tiers` refers to the compiler: close them before it goes.
  explicit Compiler(std::shared_ptr<const pjrt::Client> client,
                    cache::Tiers& tiers = cache::Tiers::Get());

  // The program of a call. On a hit of any tier no StableHLO is built, unless
  // TORCH_TPU_CACHE_VERIFY asks for the comparison.
  Result<std::shared_ptr<Program>> Compile(const CallSpec& spec);

  cache::Tier1Stats tier1_stats() const { return tier1_.stats(); }
  void ClearTier1() { tier1_.Clear(); }
  // Why the last program that had to be compiled was in no tier; nothing when none had to be.
  // Looks into the storages, so it may take long.
  std::optional<cache::Explanation> ExplainLastMiss() const;

 private:
  // What one compile needs besides the call.
  struct Request {
    const CallSpec& spec;
    cache::Key key;
    pjrt::CompileOptions options;
  };

  pjrt::CompileOptions OptionsFor(const CallSpec& spec) const;
  Result<std::shared_ptr<Program>> Miss(const Request& request);
  Result<std::shared_ptr<Program>> FromTier3OrPlugin(const Request& request);
  Result<std::shared_ptr<Program>> RaceTier3(const Request& request,
                                             std::shared_ptr<cache::StoredTier> tier);
  Result<std::shared_ptr<Program>> CompileNow(const Request& request);
  Result<std::shared_ptr<Program>> CompileModule(const Request& request, Module module) const;
  std::shared_ptr<Program> Load(cache::StoredTier& tier, const Request& request,
                                bool quiet = false);
  std::shared_ptr<Program> Restore(cache::StoredTier& tier, const Request& request,
                                   const cache::FoundEntry& found) const;
  void Store(const Request& request, const std::shared_ptr<Program>& program);
  // Some programs cannot be serialized. After many and no other, the tiers are turned off.
  void CountUnserializable(const Status& status) const;
  Result<std::string> Encode(const Program& program, const cache::Key& key) const;
  cache::Described Describe(const Request& request) const;
  Status NotInCache(const Request& request) const;
  static Status Verify(const Program& program, const CallSpec& spec);

  const std::shared_ptr<const pjrt::Client> client_;
  cache::Tiers& tiers_;
  const bool is_cpu_;
  const OptionsKey options_key_;
  mutable std::atomic<bool> serializes_{false};
  mutable std::atomic<int> unserializable_{0};
  static constexpr int64_t kTier1Bytes = int64_t{1} << 30;
  cache::Tier1<Program> tier1_{kTier1Bytes};
  cache::Journal journal_;
};

}  // namespace torch_tpu::graph
