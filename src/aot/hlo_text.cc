// HLO modules as text.
#include <unordered_map>

#include "aot/hlo.h"

namespace torch_tpu::aot {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "\"";
}

class Printer {
 public:
  explicit Printer(const HloModule& module) : module_(module) {
    for (const HloComputation& c : module.computations) {
      for (const HloInstruction& i : c.instructions) instructions_[i.id] = &i;
    }
  }

  std::string Print() {
    text_ = "HloModule " + module_.name;
    if (module_.is_scheduled) text_ += ", is_scheduled=true";
    for (const auto& [output, parameter] : module_.aliased_parameters) {
      text_ += ", alias(output " + std::to_string(output) + " in parameter " +
               std::to_string(parameter) + ")";
    }
    text_ += "\n";
    for (const HloComputation& c : module_.computations) PrintComputation(c);
    return std::move(text_);
  }

 private:
  void PrintComputation(const HloComputation& computation) {
    text_ += computation.id == module_.entry_id ? "\nENTRY %" : "\n%";
    text_ += computation.name + " {\n";
    for (const HloInstruction& i : computation.instructions) {
      text_ += i.id == computation.root_id ? "  ROOT " : "  ";
      PrintInstruction(i);
    }
    text_ += "}\n";
  }

  void PrintInstruction(const HloInstruction& i) {
    text_ += "%" + i.name + " = " + i.shape.ToString() + " " + i.opcode + "(";
    if (i.opcode == "parameter") {
      text_ += std::to_string(i.parameter_number);
    } else if (i.opcode == "constant") {
      text_ += i.literal;
    } else {
      PrintNames(i.operands);
    }
    text_ += ")";
    if (i.opcode == "get-tuple-element") text_ += ", index=" + std::to_string(i.tuple_index);
    for (const std::string& attribute : i.attributes) text_ += ", " + attribute;
    if (!i.replica_groups.empty()) text_ += ", replica_groups=" + i.replica_groups;
    if (!i.custom_call_target.empty()) {
      text_ += ", custom_call_target=" + Quoted(i.custom_call_target);
    }
    for (size_t c = 0; c < i.called.size(); ++c) {
      const HloComputation* called = module_.Find(i.called[c]);
      text_ += (c == 0 ? ", calls=%" : ",%") + (called != nullptr ? called->name : "?");
    }
    if (!i.control_predecessors.empty()) {
      text_ += ", control-predecessors={";
      PrintNames(i.control_predecessors);
      text_ += "}";
    }
    PrintMetadata(i);
    PrintConfig(i);
    text_ += "\n";
  }

  // Backend configurations are pages of tiling decisions. Kept whole where they say what is run.
  void PrintConfig(const HloInstruction& i) {
    if (i.estimated_cycles >= 0) {
      text_ += ", estimated_cycles=" + std::to_string(i.estimated_cycles);
    }
    const bool whole = i.opcode == "custom-call" || !i.replica_groups.empty();
    if (whole && !i.backend_config.empty()) text_ += ", backend_config=" + i.backend_config;
  }

  void PrintNames(const std::vector<int64_t>& ids) {
    for (size_t n = 0; n < ids.size(); ++n) {
      const auto found = instructions_.find(ids[n]);
      text_ += (n == 0 ? "%" : ", %") + (found == instructions_.end() ? "?" : found->second->name);
    }
  }

  void PrintMetadata(const HloInstruction& i) {
    std::string metadata;
    if (!i.op_name.empty()) metadata += " op_name=" + Quoted(i.op_name);
    if (!i.source_file.empty()) {
      metadata +=
          " source_file=" + Quoted(i.source_file) + " source_line=" + std::to_string(i.source_line);
    }
    if (!metadata.empty()) text_ += ", metadata={" + metadata.substr(1) + "}";
  }

  const HloModule& module_;
  std::unordered_map<int64_t, const HloInstruction*> instructions_;
  std::string text_;
};

}  // namespace

std::string HloText(const HloModule& module) { return Printer(module).Print(); }

}  // namespace torch_tpu::aot
