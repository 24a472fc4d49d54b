// Collecting versions and options.
#include "graph/options_key.h"

#include <mutex>

#include "base/env.h"
#include "base/hash.h"
#include "cache/host_cpu.h"
#include "cache/sha256.h"

namespace torch_tpu::graph {
namespace {

struct Frontend {
  std::mutex mutex;
  std::string version;
};
Frontend& GetFrontend() {
  static auto* frontend = new Frontend;
  return *frontend;
}

std::string PluginIdentity(const pjrt::Client& client) {
  const pjrt::Plugin& plugin = client.plugin();
  std::string text = client.platform_name() + " " + client.platform_version() + ", PJRT " +
                     std::to_string(plugin.api_major()) + "." + std::to_string(plugin.api_minor());
  for (const auto& [name, value] : plugin.attributes()) text += ", " + name + " " + value;
  return text + ", file " + cache::FileFingerprint(plugin.path());
}

// The user's precision where a lowering declares that it counts; traced calls may hold one that
// does.
const char* PrecisionPiece(const CallSpec& spec) {
  bool counts = false;
  for (const SubCall& call : spec.calls) {
    counts |= call.lowering == nullptr || call.lowering->options.precision;
  }
  if (!counts) return "any";
  switch (spec.precision) {
    case shlo::Precision::kDefault:
      return "medium";
    case shlo::Precision::kHigh:
      return "high";
    case shlo::Precision::kHighest:
      return "highest";
  }
  return "any";
}

const char* TargetPiece(const CallSpec& spec) {
  return spec.target == ops::Target::kCpu ? "cpu" : "tpu";
}

}  // namespace

void SetFrontendVersion(const std::string& version) {
  std::lock_guard lock(GetFrontend().mutex);
  GetFrontend().version = version;
}

OptionsKey::OptionsKey(const pjrt::Client& client) {
  const env::Settings& settings = env::Get();
  fixed_.emplace_back("lowerings", kLoweringVersion);
  {
    std::lock_guard lock(GetFrontend().mutex);
    fixed_.emplace_back("pytorch", GetFrontend().version);
  }
  fixed_.emplace_back("plugin", PluginIdentity(client));
  fixed_.emplace_back(
      "device", client.DeviceKind() + " x " + std::to_string(client.num_addressable_devices()));
  const bool cpu = client.platform_name() == "cpu";
  fixed_.emplace_back(
      "host", cpu ? cache::HexOf(cache::Sha256(cache::HostCpu())).substr(0, 16) : std::string());
  fixed_.emplace_back("flags", "XLA_FLAGS=" + settings.xla_flags +
                                   " LIBTPU_INIT_ARGS=" + settings.libtpu_init_args);
  Hasher hasher;
  for (const auto& [name, value] : fixed_) hasher.Add(name).Add(value);
  fixed_hash_ = hasher.Finish();
}

uint64_t OptionsKey::Key(const CallSpec& spec, const pjrt::CompileOptions& options) const {
  return Hasher(fixed_hash_)
      .Add(options.Serialize())
      .Add(PrecisionPiece(spec))
      .Add(TargetPiece(spec))
      .Add(spec.debug)
      .Finish();
}

cache::Pieces OptionsKey::Describe(const CallSpec& spec,
                                   const pjrt::CompileOptions& options) const {
  cache::Pieces pieces = fixed_;
  pieces.emplace_back("compile options",
                      cache::HexOf(cache::Sha256(options.Serialize())).substr(0, 16));
  pieces.emplace_back("precision", PrecisionPiece(spec));
  pieces.emplace_back("target", TargetPiece(spec));
  pieces.emplace_back("checks", spec.debug ? "on" : "off");
  return pieces;
}

}  // namespace torch_tpu::graph
