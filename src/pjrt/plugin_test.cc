// Tests of plugin loading: what is refused and with which words, identity, attributes, and missing
// slots.
#include "pjrt/plugin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "pjrt/test_plugins.h"

namespace torch_tpu::pjrt {
namespace {

Status LoadStatus(const std::string& path) { return Plugin::Load(path).status(); }

TEST(PluginLoadTest, MissingFile) {
  EXPECT_EQ(LoadStatus("/no/such/plugin.so").ToString(),
            "NOT_FOUND: PJRT plugin '/no/such/plugin.so': No such file or directory");
  EXPECT_EQ(LoadStatus("").code(), StatusCode::kInvalidArgument);
}

TEST(PluginLoadTest, FileThatIsNoLibrary) {
  const auto path = std::filesystem::path(testing::TempDir()) / "plain_text.so";
  std::ofstream(path) << "hello, not a library";
  const Status status = LoadStatus(path.string());
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().find("PJRT plugin '" + path.string() +
                                  "': cannot be loaded as a shared library: "),
            0u)
      << status.ToString();
  std::filesystem::remove(path);
}

TEST(PluginLoadTest, LibraryThatIsNoPlugin) {
  EXPECT_EQ(LoadStatus("libm.so.6").ToString(),
            "INVALID_ARGUMENT: PJRT plugin 'libm.so.6': has no function GetPjrtApi: it is not a "
            "PJRT plugin");
}

TEST(PluginLoadTest, VersionsThatAreTooOldOrOfAnotherMajor) {
  // A copy: the fake itself may be loaded already, and a loaded plugin is not checked again.
  const auto copy = std::filesystem::path(testing::TempDir()) / "old_plugin.so";
  std::filesystem::copy_file(FakePluginPath(), copy,
                             std::filesystem::copy_options::overwrite_existing);
  void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto set_version = reinterpret_cast<decltype(&torch_tpu_fake_set_api_version)>(
      dlsym(library, "torch_tpu_fake_set_api_version"));

  set_version(0, 56);
  EXPECT_EQ(LoadStatus(copy.string()).ToString(),
            "INVALID_ARGUMENT: PJRT plugin '" + copy.string() +
                "': its PJRT API version is 0.56; expected 0.57 or later: install a newer plugin");
  set_version(1, 0);
  EXPECT_EQ(LoadStatus(copy.string()).ToString(),
            "INVALID_ARGUMENT: PJRT plugin '" + copy.string() +
                "': its PJRT API version is 1.0; expected major version 0");
  set_version(0, 57);
  const auto plugin = Plugin::Load(copy.string());
  ASSERT_TRUE(plugin.ok()) << plugin.status().ToString();
  EXPECT_EQ((*plugin)->api_major(), 0);
  EXPECT_EQ((*plugin)->api_minor(), 57);
  std::filesystem::remove(copy);
}

TEST(PluginLoadTest, SameFileGivesTheSameObject) {
  const auto first = Plugin::Load(FakePluginPath());
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  const std::filesystem::path path(FakePluginPath());
  const auto second = Plugin::Load((path.parent_path() / "." / path.filename()).string());
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_EQ(first->get(), second->get());
}

TEST(PluginLoadTest, FakeAttributesAsText) {
  const auto plugin = Plugin::Load(FakePluginPath());
  ASSERT_TRUE(plugin.ok()) << plugin.status().ToString();
  EXPECT_EQ((*plugin)->attributes(),
            (std::map<std::string, std::string>{{"xla_version", "1"},
                                                {"stablehlo_current_version", "1.13.3"}}));
}

TEST(PluginLoadTest, CpuPluginTellsItsStableHloVersion) {
  const auto plugin = Plugin::Load(CpuPluginPath());
  ASSERT_TRUE(plugin.ok()) << plugin.status().ToString();
  EXPECT_GE((*plugin)->api_minor(), 57);
  const auto& attributes = (*plugin)->attributes();
  ASSERT_EQ(attributes.count("stablehlo_current_version"), 1u);
  EXPECT_EQ(attributes.at("stablehlo_current_version").substr(0, 2), "1.");
}

}  // namespace
}  // namespace torch_tpu::pjrt
