// A loaded PJRT plugin library.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"

struct PJRT_Api;
struct PJRT_Event;

namespace torch_tpu::pjrt {

// Process-wide and immutable: loading the same file twice gives the same object, which lives until
// the process ends.
class Plugin : public std::enable_shared_from_this<Plugin> {
 public:
  // Fails with NOT_FOUND or INVALID_ARGUMENT naming `path` when the file is missing, is no plugin,
  // or is too old. Before the first load, TF_CPP_MIN_LOG_LEVEL is set, unless the user set it, so
  // that the plugin logs errors only, or everything with TORCH_TPU_SHOW_COMPILER_LOG.
  static Result<std::shared_ptr<const Plugin>> Load(const std::string& path);

  const std::string& path() const { return path_; }
  const PJRT_Api* api() const { return api_; }
  int api_major() const;
  int api_minor() const;
  // Plugin attributes such as "xla_version", "stablehlo_current_version", as text ("1.13.3").
  const std::map<std::string, std::string>& attributes() const { return attributes_; }

  // Destroys `event` (may be null) now when it is ready, else during a later call. Never blocks.
  void DestroyEvent(PJRT_Event* event) const;

 private:
  friend class PluginLoader;
  Plugin() = default;

  std::string path_;
  const PJRT_Api* api_ = nullptr;
  std::map<std::string, std::string> attributes_;

  mutable std::mutex pending_mutex_;
  mutable std::vector<PJRT_Event*>
      pending_events_;  // given up by their owners before they were ready
};

}  // namespace torch_tpu::pjrt
