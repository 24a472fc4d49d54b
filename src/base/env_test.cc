// Tests of the environment registry: defaults, accepted spellings, the message for a bad value, and
// the listing.
#include "base/env.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

namespace torch_tpu::env {
namespace {

Lookup From(std::map<std::string, std::string> variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

TEST(EnvTest, UnsetAndEmptyVariablesKeepTheDefaults) {
  Settings settings;
  ASSERT_TRUE(Parse(From({{"TORCH_TPU_LAUNCH_BLOCKING", ""}}), &settings).ok());
  EXPECT_FALSE(settings.launch_blocking);
  EXPECT_FALSE(settings.show_compiler_log);
  EXPECT_FALSE(settings.trace_python);
  EXPECT_FALSE(settings.cache_verify);
  EXPECT_EQ(settings.log_level, LogLevel::kWarning);
  EXPECT_EQ(settings.pjrt_plugin, "");
  EXPECT_EQ(settings.dump_hlo, "");
}

TEST(EnvTest, EveryFieldIsReadFromItsVariable) {
  Settings settings;
  ASSERT_TRUE(Parse(From({{"TORCH_TPU_PJRT_PLUGIN", "/opt/Plugin.so"},
                          {"TORCH_TPU_LAUNCH_BLOCKING", "1"},
                          {"TORCH_TPU_LOG_LEVEL", "debug"},
                          {"TORCH_TPU_SHOW_COMPILER_LOG", "1"},
                          {"TORCH_TPU_TRACE_PYTHON", "1"},
                          {"TORCH_TPU_DUMP_HLO", "/tmp/hlo"},
                          {"TORCH_TPU_CACHE_VERIFY", "1"},
                          {"TORCH_TPU_TEST_PLUGIN", "a.so"},
                          {"TORCH_TPU_TEST_FAKE_PLUGIN", "b.so"}}),
                    &settings)
                  .ok());
  EXPECT_EQ(settings.pjrt_plugin, "/opt/Plugin.so");
  EXPECT_TRUE(settings.launch_blocking);
  EXPECT_EQ(settings.log_level, LogLevel::kDebug);
  EXPECT_TRUE(settings.show_compiler_log);
  EXPECT_TRUE(settings.trace_python);
  EXPECT_EQ(settings.dump_hlo, "/tmp/hlo");
  EXPECT_TRUE(settings.cache_verify);
  EXPECT_EQ(settings.test_plugin, "a.so");
  EXPECT_EQ(settings.test_fake_plugin, "b.so");
}

TEST(EnvTest, BooleanSpellings) {
  for (const char* text : {"1", "true", "TRUE", "On", "yes"}) {
    Settings settings;
    ASSERT_TRUE(Parse(From({{"TORCH_TPU_TRACE_PYTHON", text}}), &settings).ok()) << text;
    EXPECT_TRUE(settings.trace_python) << text;
  }
  for (const char* text : {"0", "false", "Off", "NO"}) {
    Settings settings;
    settings.trace_python = true;
    ASSERT_TRUE(Parse(From({{"TORCH_TPU_TRACE_PYTHON", text}}), &settings).ok()) << text;
    EXPECT_FALSE(settings.trace_python) << text;
  }
}

TEST(EnvTest, BadValuesNameVariableValueAndAcceptedValuesAndKeepTheDefault) {
  Settings settings;
  const Status status = Parse(From({{"TORCH_TPU_LAUNCH_BLOCKING", "maybe"},
                                    {"TORCH_TPU_LOG_LEVEL", "loud"},
                                    {"TORCH_TPU_CACHE_VERIFY", "1"}}),
                              &settings);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "TORCH_TPU_LAUNCH_BLOCKING is 'maybe'; expected 1, 0, true, false, on, off, yes or no; "
            "TORCH_TPU_LOG_LEVEL is 'loud'; expected error|warning|info|debug");
  EXPECT_FALSE(settings.launch_blocking);
  EXPECT_EQ(settings.log_level, LogLevel::kWarning);
  EXPECT_TRUE(settings.cache_verify);
}

TEST(EnvTest, TheEnvironmentIsReadOnce) {
  const bool before = Get().trace_python;
  setenv("TORCH_TPU_TRACE_PYTHON", before ? "0" : "1", 1);
  EXPECT_EQ(Get().trace_python, before);
  unsetenv("TORCH_TPU_TRACE_PYTHON");
}

TEST(EnvTest, ListDescribesEachVariableOnce) {
  std::set<std::string> names;
  for (const Description& d : List()) {
    EXPECT_TRUE(names.insert(d.name).second) << d.name;
    // Everybody's names for libtpu, the compilers' flags, the size of a job and a private folder.
    const std::set<std::string> others = {"TPU_LIBRARY_PATH", "WORLD_SIZE", "XLA_FLAGS",
                                          "LIBTPU_INIT_ARGS", "XDG_RUNTIME_DIR"};
    EXPECT_TRUE(d.name.starts_with("TORCH_TPU_") || others.count(d.name) == 1) << d.name;
    EXPECT_EQ(d.help.back(), '.') << d.name;
    EXPECT_EQ(d.help.find('\n'), std::string::npos) << d.name;
  }
  EXPECT_EQ(names.count("TORCH_TPU_PJRT_PLUGIN"), 1u);
  EXPECT_EQ(names.size(), 23u);
}

TEST(EnvTest, MarkdownTableEscapesBars) {
  const std::string table = MarkdownTable();
  EXPECT_NE(table.find("| `TORCH_TPU_LOG_LEVEL` | error\\|warning\\|info\\|debug | `warning` | "
                       "stable | Least severe log lines that are written to stderr. |\n"),
            std::string::npos)
      << table;
}

}  // namespace
}  // namespace torch_tpu::env
