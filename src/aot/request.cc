// Requests in text form.
#include "aot/request.h"

#include <charconv>
#include <cstdlib>

namespace torch_tpu::aot {
namespace {

std::vector<std::string> Split(std::string_view line) {
  std::vector<std::string> parts;
  while (true) {
    const size_t tab = line.find('\t');
    parts.emplace_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return parts;
    line.remove_prefix(tab + 1);
  }
}

bool ParseInteger(const std::string& text, int64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Result<pjrt::OptionValue> ParseOption(const std::string& type, const std::string& text) {
  int64_t number = 0;
  if (type == "string") return pjrt::OptionValue(text);
  if (type == "int" && ParseInteger(text, &number)) return pjrt::OptionValue(number);
  if (type == "bool" && (text == "0" || text == "1")) return pjrt::OptionValue(text == "1");
  if (type == "real") {
    char* end = nullptr;
    const double real = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0') return pjrt::OptionValue(real);
  }
  return InvalidArgument("'" + text + "' is no value of type '" + type +
                         "' (string, bool, int or real)");
}

Status AddOption(const std::vector<std::string>& parts,
                 std::map<std::string, pjrt::OptionValue>* options) {
  if (parts.size() != 4) return InvalidArgument("expected a name, a type and a value");
  ASSIGN_OR_RETURN((*options)[parts[1]], ParseOption(parts[2], parts[3]));
  return {};
}

Status AddLine(const std::vector<std::string>& parts, Request* request) {
  const std::string& word = parts[0];
  if (word == "option") return AddOption(parts, &request->options.overrides);
  if (word == "topology_option") return AddOption(parts, &request->topology_options);
  if (word == "job") {
    if (parts.size() != 4) return InvalidArgument("expected a name and two paths");
    request->jobs.push_back({parts[1], parts[2], parts[3]});
    return {};
  }
  if (parts.size() != 2) return InvalidArgument("expected one value");
  if (word == "plugin" || word == "topology") {
    (word == "plugin" ? request->plugin : request->topology) = parts[1];
    return {};
  }
  int64_t number = 0;
  if (!ParseInteger(parts[1], &number)) return InvalidArgument("expected an integer");
  const std::map<std::string, int64_t*> numbers = {
      {"replicas", &request->options.num_replicas},
      {"partitions", &request->options.num_partitions},
      {"optimization", &request->effort.optimization},
      {"memory_fitting", &request->effort.memory_fitting},
      {"time_limit", &request->time_limit},
  };
  if (const auto found = numbers.find(word); found != numbers.end()) {
    *found->second = number;
  } else if (word == "spmd") {
    request->options.use_spmd_partitioning = number != 0;
  } else if (word == "shardy") {
    request->options.use_shardy = number != 0;
  } else if (word == "device") {
    request->options.device_assignment.push_back(number);
  } else {
    return InvalidArgument("unknown field '" + word + "'");
  }
  return {};
}

}  // namespace

Result<Request> ParseRequest(std::string_view text) {
  Request request;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (content.empty() || content[0] == '#') continue;
    RETURN_IF_ERROR(AddLine(Split(content), &request)
                        .WithContext("request line " + std::to_string(line) + " '" +
                                     std::string(content) + "'"));
  }
  if (request.plugin.empty()) return InvalidArgument("request: no plugin");
  if (request.topology.empty()) return InvalidArgument("request: no topology");
  return request;
}

}  // namespace torch_tpu::aot
