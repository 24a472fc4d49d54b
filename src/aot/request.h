// What the helper executable is asked to do.
//
// A request is text, one field a line: a word, a tab, its values separated by tabs. Lines that
// start with '#' and empty ones are skipped.
//
//   plugin            /path/of/libtpu.so
//   topology          v5e:2x2
//   topology_option   num_slices  int  2
//   option            xla_tpu_...  bool  1          (string, bool, int or real)
//   replicas | partitions | optimization | memory_fitting | time_limit (s)  number
//   spmd | shardy     0 or 1
//   device            3                             (repeated: the device assignment,
//   replica-major) job               name  /path/of/module.mlir  /directory/of/results
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "pjrt/compiled_program.h"

namespace torch_tpu::aot {

struct Job {
  std::string name;
  std::string module_path;
  std::string result_directory;  // exists
};

struct Request {
  std::string plugin;
  std::string topology;
  std::map<std::string, pjrt::OptionValue> topology_options;
  pjrt::CompileOptions options;
  pjrt::Effort effort;
  int64_t time_limit = 0;  // seconds for each job; 0: none
  std::vector<Job> jobs;
};

// INVALID_ARGUMENT names the line and what was expected.
Result<Request> ParseRequest(std::string_view text);

}  // namespace torch_tpu::aot
