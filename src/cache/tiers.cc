// Opening tiers as the environment or the program says.
#include "cache/tiers.h"

#include <unistd.h>

#include "base/log.h"
#include "cache/directory.h"

namespace torch_tpu::cache {
namespace {

constexpr std::string_view kFileScheme = "file://";

Limits LimitsOf(int64_t bytes) {
  constexpr int64_t kDay = 86400;
  return {bytes, env::Get().cache_days * kDay};
}

}  // namespace

std::string Tier2Directory(const env::Settings& settings) {
  const std::string& name = settings.tier2_cache;
  if (name == "disabled" || (name.empty() && settings.world_size <= 1)) return "";
  if (name.starts_with('/')) return name;
  if (name.find('/') != std::string::npos || name == "." || name == "..") {
    Log(LogLevel::kWarning,
        "program cache: tier 2 is off. TORCH_TPU_TIER2_COMPILATION_CACHE: expected a name, an "
        "absolute path or 'disabled', got '" +
            name + "'");
    return "";
  }
  std::string root = "/dev/shm/torch_tpu-" + std::to_string(geteuid());
  if (access("/dev/shm", W_OK) != 0) {
    if (settings.runtime_directory.empty()) return "";
    root = settings.runtime_directory + "/torch_tpu";
  }
  return root + "/" + (name.empty() ? "programs" : name);
}

bool IsUrl(const std::string& root) {
  return root.find("://") != std::string::npos && !root.starts_with(kFileScheme);
}

Tiers& Tiers::Get() {
  static Tiers* const tiers = [] {
    auto* made = new Tiers;
    const env::Settings& settings = env::Get();
    const auto warn = [](const Status& status) {
      if (!status.ok()) Log(LogLevel::kWarning, "program cache: " + status.message());
    };
    warn(made->SetTier2(Tier2Directory(settings)));
    if (!IsUrl(settings.tier3_cache)) warn(made->SetTier3(settings.tier3_cache));
    return made;
  }();
  return *tiers;
}

std::shared_ptr<StoredTier> Tiers::tier2() const {
  std::lock_guard lock(mutex_);
  return tier2_;
}

std::shared_ptr<StoredTier> Tiers::tier3() const {
  std::lock_guard lock(mutex_);
  return tier3_;
}

Status Tiers::SetTier2(const std::string& directory) {
  std::shared_ptr<StoredTier> made;
  {
    // Opening a directory a second time would drop the locks of the first.
    std::lock_guard lock(mutex_);
    if (tier2_ != nullptr && tier2_->storage().description() == directory) return {};
  }
  if (!directory.empty()) {
    ASSIGN_OR_RETURN(auto storage, Directory::Open(directory, Directory::Reading::kMap));
    ASSIGN_OR_RETURN(auto locks, KeyLocks::Open(directory));
    made = std::make_shared<StoredTier>("tier 2", std::move(storage),
                                        LimitsOf(env::Get().tier2_cache_bytes), std::move(locks));
  }
  std::lock_guard lock(mutex_);
  if (!disabled_) tier2_ = std::move(made);
  return {};
}

Status Tiers::SetTier3(const std::string& path) {
  if (path.empty()) {
    SetTier3(std::shared_ptr<Storage>());
    return {};
  }
  const bool scheme = path.starts_with(kFileScheme);
  const std::string directory = scheme ? path.substr(kFileScheme.size()) : path;
  ASSIGN_OR_RETURN(auto storage, Directory::Open(directory, Directory::Reading::kCopy));
  SetTier3(std::shared_ptr<Storage>(std::move(storage)));
  return {};
}

void Tiers::SetTier3(std::shared_ptr<Storage> storage) {
  std::shared_ptr<StoredTier> made;
  if (storage != nullptr) {
    made = std::make_shared<StoredTier>("tier 3", std::move(storage),
                                        LimitsOf(env::Get().tier3_cache_bytes));
  }
  std::lock_guard lock(mutex_);
  if (!disabled_) tier3_ = std::move(made);
}

void Tiers::Disable(const std::string& why) {
  std::lock_guard lock(mutex_);
  if (disabled_) return;
  disabled_ = true;
  if (tier2_ || tier3_) Log(LogLevel::kInfo, "program cache: tiers 2 and 3 are off: " + why);
  tier2_.reset();
  tier3_.reset();
}

bool Tiers::Flush(std::chrono::milliseconds limit) { return writers_.Drain(limit); }

void Tiers::Close(std::chrono::milliseconds limit) {
  if (!writers_.Drain(limit)) {
    Log(LogLevel::kWarning, "program cache: the storage is slow, " +
                                std::to_string(writers_.pending()) +
                                " programs were compiled and not stored");
  }
  if (const auto tier = tier3()) tier->storage().Close();
  writers_.Close();
  readers_.Close();
  compilers_.Close();
}

}  // namespace torch_tpu::cache
