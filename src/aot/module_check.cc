// Checks of module texts.
#include "aot/module_check.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

namespace torch_tpu::aot {
namespace {

constexpr std::string_view kTensor = "tensor<";
constexpr std::string_view kBounds = "bounds<";

// `module` with comments and the contents of strings blanked; line ends stay.
std::string WithoutText(std::string_view module) {
  std::string code(module);
  bool in_string = false;
  bool in_comment = false;
  for (size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '\n') in_comment = false;
    if (in_comment || (in_string && c != '"')) {
      if (in_string && c == '\\' && i + 1 < code.size()) code[i++] = ' ';
      if (code[i] != '\n') code[i] = ' ';
    } else if (c == '"') {
      in_string = !in_string;
    } else if (c == '/' && i + 1 < code.size() && code[i + 1] == '/') {
      in_comment = true;
      code[i] = ' ';
    }
  }
  return code;
}

// The text between the '<' before `open` and its '>'.
std::string_view Inside(std::string_view code, size_t open) {
  int depth = 1;
  for (size_t i = open; i < code.size(); ++i) {
    if (code[i] == '<') ++depth;
    if (code[i] == '>' && (i == 0 || code[i - 1] != '-') && --depth == 0) {
      return code.substr(open, i - open);
    }
  }
  return code.substr(open);
}

// "?", "4" of "?x4xf32".
std::vector<std::string_view> Sizes(std::string_view type) {
  std::vector<std::string_view> sizes;
  while (true) {
    const size_t end = type.find_first_not_of("0123456789?");
    if (end == 0 || end == std::string_view::npos || type[end] != 'x') return sizes;
    sizes.push_back(type.substr(0, end));
    type.remove_prefix(end + 1);
  }
}

std::vector<std::string> Bounds(std::string_view encoding) {
  std::vector<std::string> bounds;
  const size_t at = encoding.find(kBounds);
  if (at == std::string_view::npos) return bounds;
  std::string current;
  for (char c : Inside(encoding, at + kBounds.size())) {
    if (c == ',') {
      bounds.push_back(current);
      current.clear();
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      current += c;
    }
  }
  bounds.push_back(current);
  return bounds;
}

// The encoding of a type, looked up where it is an alias ("#bounded").
std::string_view Encoding(std::string_view code, std::string_view type) {
  const size_t comma = type.find(',');
  if (comma == std::string_view::npos) return {};
  std::string_view encoding = type.substr(comma + 1);
  encoding.remove_prefix(std::min(encoding.find_first_not_of(' '), encoding.size()));
  if (encoding.empty() || encoding[0] != '#' || encoding.find('<') != std::string_view::npos) {
    return encoding;
  }
  const size_t definition = code.find(std::string(encoding) + " = ");
  if (definition == std::string_view::npos) return encoding;
  return code.substr(definition, code.find('\n', definition) - definition);
}

int64_t ModuleAttribute(std::string_view module, std::string_view name) {
  size_t at = module.find(name);
  if (at == std::string_view::npos) return 1;
  at = module.find_first_not_of(" =", at + name.size());
  int64_t value = 1;
  if (at != std::string_view::npos) {
    std::from_chars(module.data() + at, module.data() + module.size(), value);
  }
  return value;
}

}  // namespace

Status CheckBounded(std::string_view module) {
  if (module.find('?') == std::string_view::npos) return {};
  const std::string code = WithoutText(module);
  for (size_t at = code.find(kTensor); at != std::string::npos; at = code.find(kTensor, at + 1)) {
    const std::string_view type = Inside(code, at + kTensor.size());
    const std::vector<std::string_view> sizes = Sizes(type);
    std::vector<std::string> bounds;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != "?") continue;
      if (bounds.empty()) bounds = Bounds(Encoding(code, type));
      if (i < bounds.size() && bounds[i] != "?") continue;
      const auto line =
          1 + std::count(code.begin(), code.begin() + static_cast<ptrdiff_t>(at), '\n');
      return InvalidArgument("line " + std::to_string(line) + ": tensor<" + std::string(type) +
                             "> has no bound for dimension " + std::to_string(i) +
                             "; TPU programs need one (#stablehlo.bounds<...>) or a fixed size");
    }
  }
  return {};
}

Status CheckDevices(std::string_view module, int64_t replicas, int64_t partitions,
                    int64_t devices) {
  replicas = std::max(replicas, ModuleAttribute(module, "mhlo.num_replicas"));
  partitions = std::max(partitions, ModuleAttribute(module, "mhlo.num_partitions"));
  // Compared by division: the product of two large numbers overflows.
  if (replicas <= devices && partitions <= devices / replicas) return {};
  return InvalidArgument("the program wants " + std::to_string(replicas) + " replicas of " +
                         std::to_string(partitions) + " partitions and the topology has " +
                         std::to_string(devices) + " devices; choose a larger topology");
}

}  // namespace torch_tpu::aot
