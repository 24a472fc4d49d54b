// The table of environment variables and its parser. The only file that reads the environment.
#include "base/env.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <variant>

namespace torch_tpu::env {
namespace {

enum class Stage { kStable, kExperimental, kDebug, kTest };
constexpr std::string_view kStageNames[] = {"stable", "experimental", "debug", "test"};

using Field = std::variant<bool Settings::*, int64_t Settings::*, std::string Settings::*,
                           LogLevel Settings::*>;

struct Variable {
  std::string_view name;
  Field field;
  Stage stage;
  std::string_view help;
};

constexpr Variable kVariables[] = {
    {"TORCH_TPU_PJRT_PLUGIN", &Settings::pjrt_plugin, Stage::kStable,
     "PJRT plugin to use: path of a shared library, or name of an installed one. Empty: libtpu "
     "where a TPU is "
     "attached, else the CPU plugin."},
    {"TPU_LIBRARY_PATH", &Settings::tpu_library_path, Stage::kStable,
     "Path of libtpu.so, for TPU devices and for ahead-of-time compilation. Empty: the installed "
     "package libtpu."},
    {"TORCH_TPU_LAUNCH_BLOCKING", &Settings::launch_blocking, Stage::kStable,
     "Wait for every operator, check index bounds, and name operator and Python line in errors."},
    {"TORCH_TPU_DEFER_AND_FUSE", &Settings::defer_and_fuse, Stage::kStable,
     "Collect operators and send them fused. TORCH_TPU_LAUNCH_BLOCKING goes before it."},
    {"TORCH_TPU_LOG_LEVEL", &Settings::log_level, Stage::kStable,
     "Least severe log lines that are written to stderr."},
    {"TORCH_TPU_SHOW_COMPILER_LOG", &Settings::show_compiler_log, Stage::kDebug,
     "Show the log lines of the PJRT plugin and its compiler, also the informative ones."},
    {"TORCH_TPU_TRACE_PYTHON", &Settings::trace_python, Stage::kDebug,
     "Record the Python line of every operator, for error messages and profiles."},
    {"TORCH_TPU_DUMP_HLO", &Settings::dump_hlo, Stage::kDebug,
     "Directory that gets the StableHLO text of every compiled module."},
    {"TORCH_TPU_CACHE_VERIFY", &Settings::cache_verify, Stage::kDebug,
     "Rebuild the StableHLO text on every program cache hit and compare it with the stored hash."},
    {"TORCH_TPU_TIER2_COMPILATION_CACHE", &Settings::tier2_cache, Stage::kStable,
     "Programs shared by the processes of this host: a name, an absolute path, or `disabled`. "
     "Empty: "
     "on when WORLD_SIZE is above 1."},
    {"TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT", &Settings::tier3_cache, Stage::kStable,
     "Programs kept between runs and hosts: a directory, or a URL that fsspec opens. Empty: off."},
    {"TORCH_TPU_TIER2_COMPILATION_CACHE_BYTES", &Settings::tier2_cache_bytes, Stage::kStable,
     "Most bytes of tier 2; the least recently used programs go first. 0: no limit."},
    {"TORCH_TPU_TIER3_COMPILATION_CACHE_BYTES", &Settings::tier3_cache_bytes, Stage::kStable,
     "Most bytes of tier 3; the least recently used programs go first. 0: no limit."},
    {"TORCH_TPU_COMPILATION_CACHE_DAYS", &Settings::cache_days, Stage::kStable,
     "Stored programs that were not used for so many days are removed. 0: never."},
    {"TORCH_TPU_COMPILATION_CACHE_EXIT_SECONDS", &Settings::cache_exit_seconds, Stage::kStable,
     "How long the end of the process may wait for programs that are still being stored."},
    {"TORCH_TPU_COMPILE_ONLY_FROM_CACHE", &Settings::compile_only_from_cache, Stage::kStable,
     "Raise, naming the parts of the key, where a program would have to be compiled."},
    {"TORCH_TPU_COMPILE_PROGRESS", &Settings::compile_progress, Stage::kStable,
     "Say on stderr when compiling takes more than two seconds."},
    {"WORLD_SIZE", &Settings::world_size, Stage::kStable,
     "Processes of a distributed program, as torchrun sets it. Above 1, tier 2 is on."},
    {"XLA_FLAGS", &Settings::xla_flags, Stage::kStable,
     "Read by the plugin. Part of the options key of the program cache."},
    {"LIBTPU_INIT_ARGS", &Settings::libtpu_init_args, Stage::kStable,
     "Read by libtpu. Part of the options key of the program cache."},
    {"XDG_RUNTIME_DIR", &Settings::runtime_directory, Stage::kStable,
     "Where tier 2 lies on hosts without /dev/shm."},
    {"TORCH_TPU_TEST_PLUGIN", &Settings::test_plugin, Stage::kTest,
     "PJRT plugin that the tests run on. Empty: the one found when the build was configured."},
    {"TORCH_TPU_TEST_FAKE_PLUGIN", &Settings::test_fake_plugin, Stage::kTest,
     "Fake PJRT plugin that the tests use. Empty: the one of the build."},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string LevelWords() {
  std::string words;
  for (std::string_view name : kLogLevelNames) {
    if (!words.empty()) words += '|';
    words += name;
  }
  return words;
}

// Each overload returns false when `text` is not a value of the type.
bool ParseValue(const std::string& text, std::string* value) {
  *value = text;
  return true;
}

bool ParseValue(const std::string& text, bool* value) {
  const std::string lower = Lower(text);
  *value = lower == "1" || lower == "true" || lower == "on" || lower == "yes";
  return *value || lower == "0" || lower == "false" || lower == "off" || lower == "no";
}

bool ParseValue(const std::string& text, int64_t* value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && rest == end && *value >= 0;
}

bool ParseValue(const std::string& text, LogLevel* value) {
  const auto found = std::find(std::begin(kLogLevelNames), std::end(kLogLevelNames), Lower(text));
  if (found == std::end(kLogLevelNames)) return false;
  *value = static_cast<LogLevel>(found - std::begin(kLogLevelNames));
  return true;
}

std::string TypeName(const std::string&) { return "string"; }
std::string TypeName(bool) { return "bool"; }
std::string TypeName(int64_t) { return "integer"; }
std::string TypeName(LogLevel) { return LevelWords(); }

std::string Accepted(const std::string&) { return "any text"; }
std::string Accepted(bool) { return "1, 0, true, false, on, off, yes or no"; }
std::string Accepted(int64_t) { return "a whole number, 0 or more"; }
std::string Accepted(LogLevel) { return LevelWords(); }

std::string ToText(const std::string& value) { return value; }
std::string ToText(bool value) { return value ? "1" : "0"; }
std::string ToText(int64_t value) { return std::to_string(value); }
std::string ToText(LogLevel value) { return std::string(kLogLevelNames[static_cast<int>(value)]); }

struct Loaded {
  Settings settings;
  Status status;
};

// Never destroyed: destructors of other static objects may still ask.
const Loaded& Load() {
  static const Loaded* loaded = [] {
    auto* fresh = new Loaded;
    fresh->status = Parse(
        [](std::string_view name) -> std::optional<std::string> {
          const char* text = std::getenv(std::string(name).c_str());
          return text ? std::optional<std::string>(text) : std::nullopt;
        },
        &fresh->settings);
    return fresh;
  }();
  return *loaded;
}

}  // namespace

const Settings& Get() { return Load().settings; }

const Status& ParseStatus() { return Load().status; }

Status Parse(const Lookup& lookup, Settings* settings) {
  std::string problems;
  for (const Variable& variable : kVariables) {
    const std::optional<std::string> text = lookup(variable.name);
    if (!text || text->empty()) continue;
    std::visit(
        [&](auto field) {
          auto value = settings->*field;
          if (ParseValue(*text, &value)) {
            settings->*field = value;
            return;
          }
          if (!problems.empty()) problems += "; ";
          problems +=
              std::string(variable.name) + " is '" + *text + "'; expected " + Accepted(value);
        },
        variable.field);
  }
  return problems.empty() ? Status() : InvalidArgument(problems);
}

std::vector<Description> List() {
  const Settings defaults;
  std::vector<Description> list;
  for (const Variable& variable : kVariables) {
    std::visit(
        [&](auto field) {
          list.push_back({std::string(variable.name), TypeName(defaults.*field),
                          ToText(defaults.*field),
                          std::string(kStageNames[static_cast<int>(variable.stage)]),
                          std::string(variable.help), ToText(Get().*field)});
        },
        variable.field);
  }
  return list;
}

std::string MarkdownTable() {
  std::string table = "| variable | type | default | stage | meaning |\n|---|---|---|---|---|\n";
  for (const Description& d : List()) {
    std::string type;
    for (char c : d.type) type += c == '|' ? std::string("\\|") : std::string(1, c);
    table += "| `" + d.name + "` | " + type + " | " +
             (d.default_value.empty() ? "" : "`" + d.default_value + "`") + " | " + d.stage +
             " | " + d.help + " |\n";
  }
  return table;
}

}  // namespace torch_tpu::env
