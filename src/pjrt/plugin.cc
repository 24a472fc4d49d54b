// Loading of plugin libraries, their attributes, and the store of given-up events.
#include "pjrt/plugin.h"

#include <dlfcn.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/env.h"
#include "pjrt/api_call.h"

namespace torch_tpu::pjrt {
namespace {

// API 0.57 rearranged the function table without a new major version.
constexpr int kOldestMinor = 57;

// The absolute path behind `path`, or `path` itself when it has no slash: dlopen then searches for
// it.
Result<std::string> Locate(const std::string& path) {
  if (path.empty()) return InvalidArgument("PJRT plugin path is empty");
  if (path.find('/') == std::string::npos) return path;
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) {
    return NotFound("PJRT plugin '" + path + "': " + std::strerror(errno));
  }
  return std::string(resolved);
}

// The XLA libraries read the variable once, when they first log. 2 leaves errors.
void ChoosePluginLogLevel() {
  setenv("TF_CPP_MIN_LOG_LEVEL", env::Get().show_compiler_log ? "0" : "2", /*overwrite=*/0);
}

// Version, and presence of the slots that this layer calls without a check of its own.
Status CheckTable(const PJRT_Api* api) {
  const PJRT_Api_Version& version = api->pjrt_api_version;
  const std::string got =
      std::to_string(version.major_version) + "." + std::to_string(version.minor_version);
  if (version.major_version != PJRT_API_MAJOR) {
    return InvalidArgument("its PJRT API version is " + got + "; expected major version " +
                           std::to_string(PJRT_API_MAJOR));
  }
  if (version.minor_version < kOldestMinor) {
    return InvalidArgument("its PJRT API version is " + got + "; expected 0." +
                           std::to_string(kOldestMinor) + " or later: install a newer plugin");
  }
  const bool complete =
      HasSlot(api, &PJRT_Api::PJRT_Error_Destroy) && HasSlot(api, &PJRT_Api::PJRT_Error_Message) &&
      HasSlot(api, &PJRT_Api::PJRT_Error_GetCode) && HasSlot(api, &PJRT_Api::PJRT_Event_Destroy) &&
      HasSlot(api, &PJRT_Api::PJRT_Event_IsReady) && HasSlot(api, &PJRT_Api::PJRT_Event_Await) &&
      HasSlot(api, &PJRT_Api::PJRT_Client_Destroy) &&
      HasSlot(api, &PJRT_Api::PJRT_Executable_Destroy) &&
      HasSlot(api, &PJRT_Api::PJRT_LoadedExecutable_Destroy) &&
      HasSlot(api, &PJRT_Api::PJRT_LoadedExecutable_Execute) &&
      HasSlot(api, &PJRT_Api::PJRT_Buffer_Destroy);
  if (!complete) {
    return InvalidArgument("its function table of " + std::to_string(api->struct_size) +
                           " bytes lacks a function that every plugin must have");
  }
  return {};
}

}  // namespace

class PluginLoader {
 public:
  Result<std::shared_ptr<const Plugin>> Load(const std::string& path) {
    ASSIGN_OR_RETURN(const std::string located, Locate(path));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = plugins_.find(located); found != plugins_.end()) return found->second;

    std::shared_ptr<Plugin> plugin(new Plugin);
    plugin->path_ = located;
    RETURN_IF_ERROR(Open(located, plugin.get()).WithContext("PJRT plugin '" + path + "'"));
    return std::shared_ptr<const Plugin>(plugins_[located] = plugin);
  }

 private:
  static Status Open(const std::string& located, Plugin* plugin) {
    ChoosePluginLogLevel();
    void* library = dlopen(located.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const std::string reason = dlerror();
      return InvalidArgument("cannot be loaded as a shared library: " + reason);
    }
    const auto get_api = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
    if (get_api == nullptr) {
      return InvalidArgument("has no function GetPjrtApi: it is not a PJRT plugin");
    }
    const PJRT_Api* api = get_api();
    if (api == nullptr) return InvalidArgument("GetPjrtApi returned null");
    RETURN_IF_ERROR(CheckTable(api));
    plugin->api_ = api;

    auto initialize =
        MakeArgs<PJRT_Plugin_Initialize_Args>(PJRT_Plugin_Initialize_Args_STRUCT_SIZE);
    RETURN_IF_ERROR(
        CallSlot(api, &PJRT_Api::PJRT_Plugin_Initialize, "PJRT_Plugin_Initialize", &initialize));
    auto attributes =
        MakeArgs<PJRT_Plugin_Attributes_Args>(PJRT_Plugin_Attributes_Args_STRUCT_SIZE);
    // Attributes are informative: some plugins have none.
    if (CallSlot(api, &PJRT_Api::PJRT_Plugin_Attributes, "PJRT_Plugin_Attributes", &attributes)
            .ok()) {
      for (size_t i = 0; i < attributes.num_attributes; ++i) {
        const PJRT_NamedValue& value = attributes.attributes[i];
        plugin->attributes_[std::string(value.name, value.name_size)] = NamedValueText(value);
      }
    }
    WatchProcess();
    return {};
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Plugin>> plugins_;
};

Result<std::shared_ptr<const Plugin>> Plugin::Load(const std::string& path) {
  // Never destroyed, so that destructors of static objects may still use their plugin.
  static PluginLoader* loader = new PluginLoader;
  return loader->Load(path);
}

int Plugin::api_major() const { return api_->pjrt_api_version.major_version; }
int Plugin::api_minor() const { return api_->pjrt_api_version.minor_version; }

// The API does not say that a pending event may be destroyed, so none is: it waits here.
void Plugin::DestroyEvent(PJRT_Event* event) const {
  if (event == nullptr || IsShutDown()) return;
  const auto is_ready = [this](PJRT_Event* e) {
    auto args = MakeArgs<PJRT_Event_IsReady_Args>(PJRT_Event_IsReady_Args_STRUCT_SIZE);
    args.event = e;
    return TakeError(api_, api_->PJRT_Event_IsReady(&args)).ok() && args.is_ready;
  };
  const auto destroy = [this](PJRT_Event* e) {
    auto args = MakeArgs<PJRT_Event_Destroy_Args>(PJRT_Event_Destroy_Args_STRUCT_SIZE);
    args.event = e;
    (void)TakeError(api_, api_->PJRT_Event_Destroy(&args));
  };
  if (is_ready(event)) return destroy(event);

  const std::lock_guard<std::mutex> lock(pending_mutex_);
  std::erase_if(pending_events_, [&](PJRT_Event* e) {
    const bool ready = is_ready(e);
    if (ready) destroy(e);
    return ready;
  });
  pending_events_.push_back(event);
}

}  // namespace torch_tpu::pjrt
