// For tests of any layer: which plugins to test on, and the fake plugin's controls.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/env.h"
#include "pjrt/fake/fake_plugin.h"
#include "pjrt/pjrt.h"

namespace torch_tpu::pjrt {

// A plugin that computes. TORCH_TPU_TEST_PLUGIN or the one found when the build was configured.
inline std::string CpuPluginPath() {
  const std::string& path = env::Get().test_plugin;
  return path.empty() ? TORCH_TPU_DEFAULT_TEST_PLUGIN : path;
}

// The fake plugin. TORCH_TPU_TEST_FAKE_PLUGIN or the one of the build.
inline std::string FakePluginPath() {
  const std::string& path = env::Get().test_fake_plugin;
  return path.empty() ? TORCH_TPU_DEFAULT_TEST_FAKE_PLUGIN : path;
}

// Opens a client or fails the test (then null).
inline std::shared_ptr<const Client> OpenClient(const std::string& plugin_path) {
  auto plugin = Plugin::Load(plugin_path);
  EXPECT_TRUE(plugin.ok()) << plugin.status().ToString();
  if (!plugin.ok()) return nullptr;
  auto client = Client::Create(*plugin);
  EXPECT_TRUE(client.ok()) << client.status().ToString();
  return client.ok() ? *client : nullptr;
}

// The functions of fake/fake_plugin.h in the loaded library. Resets the fake at construction and
// destruction.
class FakeControls {
 public:
  FakeControls() : library_(dlopen(FakePluginPath().c_str(), RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << dlerror();
    reset();
  }
  ~FakeControls() { reset(); }
  FakeControls(const FakeControls&) = delete;
  FakeControls& operator=(const FakeControls&) = delete;

  void reset() { Find<decltype(torch_tpu_fake_reset)>("reset")(); }
  void set_api_version(int major, int minor) {
    Find<decltype(torch_tpu_fake_set_api_version)>("set_api_version")(major, minor);
  }
  void set_execute_delay_ms(int ms) {
    Find<decltype(torch_tpu_fake_set_execute_delay_ms)>("set_execute_delay_ms")(ms);
  }
  void set_hold(bool on) { Find<decltype(torch_tpu_fake_set_hold)>("set_hold")(on); }
  void fail_next(const char* slot, int nth, StatusCode code, const char* message) {
    Find<decltype(torch_tpu_fake_fail_next)>("fail_next")(slot, nth, static_cast<int>(code),
                                                          message);
  }
  void fail_execution(int nth, StatusCode code, const char* message) {
    Find<decltype(torch_tpu_fake_fail_execution)>("fail_execution")(nth, static_cast<int>(code),
                                                                    message);
  }
  void set_memory_limit(int64_t bytes) {
    Find<decltype(torch_tpu_fake_set_memory_limit)>("set_memory_limit")(bytes);
  }
  int64_t call_count(const char* slot) const {
    return Find<decltype(torch_tpu_fake_call_count)>("call_count")(slot);
  }
  std::string last_module() const {
    return Find<decltype(torch_tpu_fake_last_module)>("last_module")();
  }
  std::string last_compile_options() const {
    int64_t size = 0;
    const char* bytes =
        Find<decltype(torch_tpu_fake_last_compile_options)>("last_compile_options")(&size);
    return std::string(bytes, static_cast<size_t>(size));
  }
  int64_t live_bytes() const { return Live("live_bytes"); }
  int64_t live_buffers() const { return Live("live_buffers"); }
  int64_t live_events() const { return Live("live_events"); }
  int64_t live_executables() const { return Live("live_executables"); }
  int64_t live_clients() const { return Live("live_clients"); }
  int64_t live_errors() const { return Live("live_errors"); }

 private:
  template <typename Function>
  Function* Find(const std::string& name) const {
    return reinterpret_cast<Function*>(dlsym(library_, ("torch_tpu_fake_" + name).c_str()));
  }
  int64_t Live(const char* name) const { return Find<decltype(torch_tpu_fake_live_bytes)>(name)(); }

  void* library_;
};

}  // namespace torch_tpu::pjrt
