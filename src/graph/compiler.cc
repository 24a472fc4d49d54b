// The order of the tiers, and what is compared before a stored program is believed.
#include "graph/compiler.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include "base/env.h"
#include "base/log.h"
#include "cache/key_name.h"
#include "graph/compile_progress.h"
#include "graph/race.h"
#include "graph/runtime.h"

namespace torch_tpu::graph {
namespace {

using std::chrono::milliseconds;

// Each program on a CPU plugin takes 4 to 25 memory maps of the process. Linux allows 65530, and
// XLA crashes where it does not get one.
constexpr int64_t kMostCpuPrograms = 4096;

// Holds the lock of a key among the processes of this host.
class HostLock {
 public:
  HostLock(cache::KeyLocks* locks, const cache::Key& key) : locks_(locks), key_(key) {}
  ~HostLock() {
    if (held_) locks_->Unlock(key_);
  }
  HostLock(const HostLock&) = delete;
  HostLock& operator=(const HostLock&) = delete;
  bool Try() { return held_ = locks_->TryLock(key_); }

 private:
  cache::KeyLocks* locks_;
  cache::Key key_;
  bool held_ = false;
};

bool SameText(const cache::Digest& digest, const Module& module) {
  return cache::Sha256(module.text) == digest;
}

}  // namespace

Compiler::Compiler(std::shared_ptr<const pjrt::Client> client, cache::Tiers& tiers)
    : client_(std::move(client)),
      tiers_(tiers),
      is_cpu_(client_->platform_name() == "cpu"),
      options_key_(*client_) {
  if (is_cpu_) tier1_.SetEntryCap(kMostCpuPrograms);
}

// On CPU plugins LLVM's first level gives the speed of its default and compiles up to six times as
// fast, and the old emitters halve the rest. Without optimisation it is twice as fast again, which
// pays where the launch outweighs the elements.
pjrt::CompileOptions Compiler::OptionsFor(const CallSpec& spec) const {
  constexpr int64_t kFewElements = 64;
  bool few = true;
  for (const TensorType& type : spec.operands) few &= NumElements(type.dims) <= kFewElements;
  for (const SubCall& call : spec.calls) {
    for (const OutputSpec& o : call.outputs) few &= NumElements(o.result.dims) <= kFewElements;
  }
  using pjrt::CompileEffort;
  auto options = client_->DefaultCompileOptions(few ? CompileEffort::kQuick : CompileEffort::kFull);
  if (is_cpu_) {
    // One object file a program, for the memory maps; see kMostCpuPrograms.
    options.hints["xla_cpu_parallel_codegen_split_count"] = int64_t{1};
  }
  if (is_cpu_ && !few) {
    // Fused chains run up to half as long again without the new emitters.
    constexpr size_t kFused = 8;  // calls
    const auto fused = [](const SubCall& call) {
      return call.trace && call.trace->nodes.size() >= kFused;
    };
    if (std::none_of(spec.calls.begin(), spec.calls.end(), fused)) {
      options.hints["xla_cpu_use_fusion_emitters"] = false;
    }
    options.hints["xla_backend_optimization_level"] = int64_t{1};
  }
  return options;
}

Result<std::shared_ptr<Program>> Compiler::Compile(const CallSpec& spec) {
  Request request{spec, spec.key, OptionsFor(spec)};
  request.key.options = options_key_.Key(spec, request.options);
  auto program = tier1_.GetOrCompile(request.key, [&] { return Miss(request); });
  if (program.ok() && env::Get().cache_verify) RETURN_IF_ERROR(Verify(**program, spec));
  return program;
}

// Two calls with equal keys must be the same program.
Status Compiler::Verify(const Program& program, const CallSpec& spec) {
  ASSIGN_OR_RETURN(Module module, BuildModule(spec));
  if (SameText(program.text_hash(), module)) return {};
  return Internal("the program cache gave the program of " + program.name() + " for a call of " +
                  spec.name + " with another StableHLO text: please report this");
}

Result<std::shared_ptr<Program>> Compiler::Miss(const Request& request) {
  const auto tier2 = tiers_.tier2();
  if (tier2 == nullptr) return FromTier3OrPlugin(request);
  if (auto program = Load(*tier2, request)) return program;
  HostLock lock(tier2->locks(), request.key);
  // Whoever has the lock compiles; the others look for what it writes. When it dies, the kernel
  // gives the lock to one of them.
  for (milliseconds pause{1}; !lock.Try(); pause = std::min(2 * pause, milliseconds{20})) {
    std::this_thread::sleep_for(pause);
    if (auto program = Load(*tier2, request, /*quiet=*/true)) return program;
  }
  if (auto program = Load(*tier2, request, /*quiet=*/true)) return program;
  return FromTier3OrPlugin(request);
}

Result<std::shared_ptr<Program>> Compiler::FromTier3OrPlugin(const Request& request) {
  const auto tier3 = tiers_.tier3();
  if (tier3 == nullptr) return CompileNow(request);
  if (tier3->storage().is_slow() && !env::Get().compile_only_from_cache) {
    return RaceTier3(request, tier3);
  }
  if (auto program = Load(*tier3, request)) return program;
  return CompileNow(request);
}

// The read goes on while the plugin compiles, and whichever is first is taken. Neither may refer to
// this call afterwards.
Result<std::shared_ptr<Program>> Compiler::RaceTier3(const Request& request,
                                                     std::shared_ptr<cache::StoredTier> tier) {
  auto spec = std::make_shared<const CallSpec>(request.spec);
  const auto read = [this, spec, tier, key = request.key, options = request.options] {
    return Load(*tier, Request{*spec, key, options});
  };
  const auto compile = [this, spec, key = request.key, options = request.options] {
    return CompileNow(Request{*spec, key, options});
  };
  return Race<Program>(tiers_.readers(), tiers_.compilers(), tier->grace(), read, compile);
}

Result<std::shared_ptr<Program>> Compiler::CompileNow(const Request& request) {
  if (env::Get().compile_only_from_cache) return NotInCache(request);
  journal_.AddMiss(Describe(request));
  ASSIGN_OR_RETURN(Module module, BuildModule(request.spec));
  ASSIGN_OR_RETURN(auto program, CompileModule(request, std::move(module)));
  Store(request, program);
  return program;
}

Result<std::shared_ptr<Program>> Compiler::CompileModule(const Request& request,
                                                         Module module) const {
  const CallSpec& spec = request.spec;
  const auto start = std::chrono::steady_clock::now();
  auto executable = [&] {
    const CompileScope scope;
    return client_->Compile(module.text, request.options);
  }();
  const int64_t took = std::chrono::duration_cast<std::chrono::microseconds>(
                           std::chrono::steady_clock::now() - start)
                           .count();
  Counters& counters = Counters::Get();
  counters.compiles.fetch_add(1, std::memory_order_relaxed);
  counters.compile_microseconds.fetch_add(took, std::memory_order_relaxed);
  if (!executable.ok()) return executable.status().WithContext("compiling " + spec.name);
  Log(LogLevel::kInfo, "compiled " + spec.name + "(" + OperandsText(spec) + ")");
  const cache::Digest text_hash = cache::Sha256(module.text);
  cache::ProgramInfo info = DescribeProgram(spec, std::move(module));
  info.pieces = options_key_.Describe(spec, request.options);
  info.compile_microseconds = took;
  info.created = time(nullptr);
  return std::make_shared<Program>(spec, std::move(info), text_hash, std::move(executable).value());
}

std::shared_ptr<Program> Compiler::Load(cache::StoredTier& tier, const Request& request,
                                        bool quiet) {
  const auto found = tier.Read(request.key, quiet);
  if (!found) return nullptr;
  auto program = Restore(tier, request, *found);
  if (program == nullptr) return nullptr;
  tier.CountHit(*found);
  journal_.AddKnown(Describe(request));
  Log(LogLevel::kDebug, "program cache, " + tier.name() + ": " + program->name());
  // What came from far is put near.
  const auto tier2 = tiers_.tier2();
  if (tier2 != nullptr && tier2.get() != &tier) tier2->Write(request.key, found->blob.bytes);
  return program;
}

std::shared_ptr<Program> Compiler::Restore(cache::StoredTier& tier, const Request& request,
                                           const cache::FoundEntry& found) const {
  const cache::Entry& entry = found.entry;
  const auto refuse = [&](const std::string& why) {
    tier.Reject(request.key, why);
    return nullptr;
  };
  if (entry.info.interface != InterfaceOf(request.spec)) {
    return refuse("its operands or results are others");
  }
  if (env::Get().cache_verify) {
    auto module = BuildModule(request.spec);
    if (module.ok() && !SameText(entry.text_hash, *module)) {
      Log(LogLevel::kWarning, "program cache: the stored program of " + entry.info.name +
                                  " was made from another StableHLO text: please report this");
      return refuse("its StableHLO text is another");
    }
  }
  auto executable = client_->DeserializeAndLoad(entry.executable);
  if (!executable.ok()) {
    if (executable.status().code() == StatusCode::kUnimplemented) {
      CountUnserializable(executable.status());
      return nullptr;
    }
    return refuse(executable.status().message());
  }
  auto program = std::make_shared<Program>(request.spec, entry.info, entry.text_hash,
                                           std::move(executable).value());
  const size_t outputs = program->num_results() + program->checks().size();
  if (static_cast<size_t>(program->executable().num_outputs()) != outputs) {
    return refuse("its number of results is another");
  }
  return program;
}

Result<std::string> Compiler::Encode(const Program& program, const cache::Key& key) const {
  ASSIGN_OR_RETURN(const std::string executable, program.executable().Serialize());
  return cache::EncodeEntry({key, program.text_hash(), program.info(), executable});
}

void Compiler::CountUnserializable(const Status& status) const {
  constexpr int kMany = 16;
  if (serializes_.load() || unserializable_.fetch_add(1) + 1 < kMany) return;
  tiers_.Disable("the plugin serializes no program: " + status.message());
}

// Tier 2 at once, because others wait for it; tier 3 when there is time.
void Compiler::Store(const Request& request, const std::shared_ptr<Program>& program) {
  const auto tier2 = tiers_.tier2();
  const auto tier3 = tiers_.tier3();
  std::string bytes;
  const auto encode = [this, key = request.key, program](std::string* into) {
    auto encoded = Encode(*program, key);
    if (encoded.ok()) {
      serializes_.store(true);
      *into = std::move(encoded).value();
      return true;
    }
    if (encoded.status().code() == StatusCode::kUnimplemented) {
      CountUnserializable(encoded.status());
    }
    Log(LogLevel::kInfo,
        "program cache: " + program->name() + " cannot be stored: " + encoded.status().message());
    return false;
  };
  if (tier2 != nullptr) {
    if (!encode(&bytes)) return;
    tier2->Write(request.key, bytes);
  }
  if (tier3 == nullptr) return;
  tiers_.writers().Add([key = request.key, tier3, encode, bytes = std::move(bytes)]() mutable {
    if (!bytes.empty() || encode(&bytes)) tier3->Write(key, bytes);
  });
}

cache::Described Compiler::Describe(const Request& request) const {
  return {request.key, request.spec.name, OperandsText(request.spec),
          options_key_.Describe(request.spec, request.options)};
}

Status Compiler::NotInCache(const Request& request) const {
  const cache::Described miss = Describe(request);
  std::string text = "TORCH_TPU_COMPILE_ONLY_FROM_CACHE is set and no tier has the program of " +
                     miss.name + "(" + miss.operands + "), key " + cache::KeyName(miss.key) +
                     " (structure-sizes-options";
  for (const auto& [name, value] : miss.pieces) text += ", " + name + ": " + value;
  return FailedPrecondition(text + "). Run once without the variable to fill the cache");
}

std::optional<cache::Explanation> Compiler::ExplainLastMiss() const {
  const auto miss = journal_.last_miss();
  if (!miss) return std::nullopt;
  std::vector<cache::Described> known = journal_.known();
  for (const auto& tier : {tiers_.tier2(), tiers_.tier3()}) {
    if (tier != nullptr) cache::AddStoredNeighbours(*miss, tier->storage(), &known);
  }
  return cache::Explain(*miss, known);
}

}  // namespace torch_tpu::graph
