// What is derived from a call about its program.
#include "graph/program.h"

#include <utility>

#include "base/hash.h"

namespace torch_tpu::graph {
namespace {

// Calls `each` with the type of every result.
template <typename Each>
void ForEachResult(const CallSpec& spec, const Each& each) {
  for (const SubCall& call : spec.calls) {
    for (const OutputSpec& o : call.outputs) {
      if (o.kind != OutputSpec::kNone) each(o.result);
    }
  }
}

}  // namespace

Program::Program(const CallSpec& spec, cache::ProgramInfo info, const cache::Digest& text_hash,
                 std::unique_ptr<pjrt::LoadedExecutable> executable)
    : info_(std::move(info)), text_hash_(text_hash), executable_(std::move(executable)) {
  ForEachResult(
      spec, [&](const TensorType& type) { results_.push_back(InternType(type.dtype, type.dims)); });
  // Plugins that do not tell the size of their code are charged a guess.
  constexpr int64_t kGuess = 32 << 10;
  auto stats = executable_->GetMemoryStats();
  const int64_t code = stats.ok() ? stats->generated_code : 0;
  temporary_bytes_ = stats.ok() ? stats->temp : 0;
  cache_bytes_ = info_.text_bytes + (code > 0 ? code : kGuess);
}

std::string OperandsText(const CallSpec& spec) {
  std::string text;
  constexpr size_t kShown = 8;
  for (size_t i = 0; i < spec.operands.size() && i < kShown; ++i) {
    text += (text.empty() ? "" : ", ") + spec.operands[i].ToString();
  }
  if (spec.operands.size() > kShown) {
    text += " and " + std::to_string(spec.operands.size() - kShown) + " more";
  }
  return text;
}

uint64_t InterfaceOf(const CallSpec& spec) {
  Hasher hasher;
  const auto add = [&](const TensorType& type) {
    hasher.Add(static_cast<uint64_t>(type.dtype)).Add(type.dims);
  };
  hasher.Add(spec.operands.size());
  for (const TensorType& type : spec.operands) add(type);
  ForEachResult(spec, add);
  for (const auto& [operand, result] : spec.aliases) {
    hasher.Add(static_cast<uint64_t>(operand)).Add(static_cast<uint64_t>(result));
  }
  return hasher.Add(static_cast<uint64_t>(spec.num_seeds)).Add(spec.debug).Finish();
}

cache::ProgramInfo DescribeProgram(const CallSpec& spec, Module module) {
  cache::ProgramInfo info;
  info.name = spec.name;
  info.operands = OperandsText(spec);
  info.checks = std::move(module.checks);
  info.check_is_index = std::move(module.check_is_index);
  int64_t bytes = 0;
  bool results = false;
  const auto add = [&](const TensorType& type) {
    bytes += NumElements(type.dims) * DTypeSize(type.dtype);
  };
  for (const TensorType& type : spec.operands) add(type);
  ForEachResult(spec, [&](const TensorType& type) {
    results = true;
    add(type);
  });
  constexpr int64_t kSmallBytes = 64 << 10;
  info.reports_completion =
      bytes > kSmallBytes || !results || module.text.find("stablehlo.while") != std::string::npos;
  info.interface = InterfaceOf(spec);
  info.text_bytes = static_cast<int64_t>(module.text.size());
  return info;
}

}  // namespace torch_tpu::graph
