// The one registry of environment variables: name, type, default, stage and one line of help each.
//
// Adding a variable takes a field of Settings and a line of the table in env.cc. The environment is
// read once, at the first call of Get or ParseStatus in the process; later changes are not seen.
// Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/status.h"

namespace torch_tpu::env {

struct Settings {
  std::string pjrt_plugin;
  std::string tpu_library_path;
  bool launch_blocking = false;
  bool defer_and_fuse = false;
  LogLevel log_level = LogLevel::kWarning;
  bool show_compiler_log = false;
  bool trace_python = false;
  std::string dump_hlo;
  bool cache_verify = false;
  std::string tier2_cache;
  std::string tier3_cache;
  int64_t tier2_cache_bytes = int64_t{1} << 30;
  int64_t tier3_cache_bytes = int64_t{10} << 30;
  int64_t cache_days = 30;
  int64_t cache_exit_seconds = 10;
  bool compile_only_from_cache = false;
  bool compile_progress = true;
  // Of other programs; read here because they decide about the program cache.
  int64_t world_size = 1;
  std::string xla_flags;
  std::string libtpu_init_args;
  std::string runtime_directory;
  std::string test_plugin;
  std::string test_fake_plugin;
};

// The settings of this process. A variable with a bad value has its default here and is reported by
// ParseStatus.
const Settings& Get();

// OK, or INVALID_ARGUMENT that names every badly set variable, its value and what it accepts.
const Status& ParseStatus();

// How Parse looks a variable up; nullopt when it is not set.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

// Fills `settings` from `lookup`. An unset or empty variable keeps its default. Booleans are 1, 0,
// true, false, on, off, yes or no in any letter case; numbers are whole and not negative.
Status Parse(const Lookup& lookup, Settings* settings);

// What the documentation says about one variable.
struct Description {
  std::string name;
  std::string
      type;  // "bool", "integer", "string", or the accepted words: "error|warning|info|debug"
  std::string default_value;  // as one would write it; empty for no value
  std::string stage;  // "stable", "experimental", "debug" (to find faults) or "test" (for this
                      // project's tests)
  std::string help;   // one sentence
  std::string value;  // the value in this process
};

// Every variable, in the order of the documentation.
std::vector<Description> List();

// List as a Markdown table without the values, for docs/env-vars.md.
std::string MarkdownTable();

}  // namespace torch_tpu::env
