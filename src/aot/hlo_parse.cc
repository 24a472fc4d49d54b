// HloModuleProto from its wire format. Field numbers are those of xla/service/hlo.proto.
#include <algorithm>
#include <charconv>

#include "aot/hlo.h"
#include "aot/hlo_attributes.h"
#include "aot/text.h"
#include "aot/wire.h"

namespace torch_tpu::aot {
namespace {

constexpr int kMaxLiteralBytes = 64;

// File names and lines that metadata refers to by number (1-based; 0: none).
struct StackFrames {
  struct Location {
    int64_t file = 0;
    int64_t line = 0;
  };
  std::vector<std::string> files;
  std::vector<Location> locations;
  std::vector<int64_t> frames;  // location of each

  void Resolve(int64_t frame, HloInstruction* instruction) const {
    if (frame < 1 || frame > static_cast<int64_t>(frames.size())) return;
    const int64_t location = frames[frame - 1];
    if (location < 1 || location > static_cast<int64_t>(locations.size())) return;
    const Location& place = locations[location - 1];
    if (place.file < 1 || place.file > static_cast<int64_t>(files.size())) return;
    instruction->source_file = files[place.file - 1];
    instruction->source_line = place.line;
  }
};

StackFrames ParseFrames(std::string_view message) {
  StackFrames index;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) index.files.push_back(r.text());
    if (r.field() == 3) {
      StackFrames::Location location;
      for (WireReader l(r.bytes()); l.Next();) {
        if (l.field() == 1) location.file = l.number();
        if (l.field() == 3) location.line = l.number();
      }
      index.locations.push_back(location);
    }
    if (r.field() == 4) {
      int64_t location = 0;
      for (WireReader f(r.bytes()); f.Next();) {
        if (f.field() == 1) location = f.number();
      }
      index.frames.push_back(location);
    }
  }
  return index;
}

void ParseLayout(std::string_view message, HloShape* shape) {
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) r.AppendTo(&shape->minor_to_major);
    if (r.field() == 6) {
      std::vector<int64_t> tile;
      for (WireReader t(r.bytes()); t.Next();) t.AppendTo(&tile);
      shape->tiles.push_back(std::move(tile));
    }
    if (r.field() == 7) shape->element_bits = r.number();
    if (r.field() == 8) shape->memory_space = r.number();
  }
}

HloShape ParseShape(std::string_view message) {
  HloShape shape;
  for (WireReader r(message); r.Next();) {
    switch (r.field()) {
      case 2:
        shape.element_type = static_cast<int>(r.number());
        break;
      case 3:
        r.AppendTo(&shape.dims);
        break;
      case 4:
        shape.tuple.push_back(ParseShape(r.bytes()));
        break;
      case 5:
        ParseLayout(r.bytes(), &shape);
        break;
      case 6:
        r.AppendTo(&shape.dynamic);
        break;
      default:
        break;
    }
  }
  return shape;
}

void ParseMetadata(std::string_view message, const StackFrames& frames,
                   HloInstruction* instruction) {
  for (WireReader r(message); r.Next();) {
    if (r.field() == 2) instruction->op_name = r.text();
    if (r.field() == 3) instruction->source_file = r.text();
    if (r.field() == 4) instruction->source_line = r.number();
    if (r.field() == 15 && instruction->source_file.empty()) {
      frames.Resolve(r.number(), instruction);
    }
  }
}

void ParseInOperand(std::string_view message, HloInstruction* instruction) {
  std::vector<int64_t> output;
  int64_t operand = 0;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) r.AppendTo(&output);
    if (r.field() == 2) operand = r.number();
  }
  instruction->in_operand[output.empty() ? 0 : output[0]] = operand;
}

// The bytes of a literal, in hexadecimal when there are few: enough to tell two constants apart.
std::string LiteralText(std::string_view message) {
  std::string text;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) continue;  // the shape stands in the instruction
    std::string_view bytes = r.bytes();
    if (bytes.empty()) {
      AppendItem(&text, ",", std::to_string(r.number()));
      continue;
    }
    if (bytes.size() > kMaxLiteralBytes) return "...";
    constexpr char kDigits[] = "0123456789abcdef";
    if (!text.empty()) text += ",";
    text += "0x";
    for (char c : bytes) {
      text += kDigits[static_cast<unsigned char>(c) >> 4];
      text += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return text;
}

// The number after `"key":` in JSON, quoted or not; -1 when the key is not there.
int64_t NumberOf(std::string_view json, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + "\":";
  size_t at = json.find(quoted);
  if (at == std::string_view::npos) return -1;
  at += quoted.size();
  while (at < json.size() && (json[at] == '"' || json[at] == ' ')) ++at;
  int64_t number = -1;
  std::from_chars(json.data() + at, json.data() + json.size(), number);
  return number;
}

HloInstruction ParseInstruction(std::string_view message, const StackFrames& frames) {
  HloInstruction instruction;
  for (WireReader r(message); r.Next();) {
    switch (r.field()) {
      case 1:
        instruction.name = r.text();
        break;
      case 2:
        instruction.opcode = r.text();
        break;
      case 3:
        instruction.shape = ParseShape(r.bytes());
        break;
      case 7:
        ParseMetadata(r.bytes(), frames, &instruction);
        break;
      case 8:
        instruction.literal = LiteralText(r.bytes());
        break;
      case 9:
        instruction.parameter_number = r.number();
        break;
      case 11:
        instruction.attributes.push_back("kind=" + r.text());
        break;
      case 13:
        instruction.tuple_index = r.number();
        break;
      case 28:
        instruction.custom_call_target = r.text();
        break;
      case 35:
        instruction.id = r.number();
        break;
      case 36:
        r.AppendTo(&instruction.operands);
        break;
      case 37:
        r.AppendTo(&instruction.control_predecessors);
        break;
      case 38:
        r.AppendTo(&instruction.called);
        break;
      case 43:
        instruction.backend_config = r.text();
        instruction.estimated_cycles = NumberOf(r.bytes(), "estimated_cycles");
        break;
      case 74:
        ParseInOperand(r.bytes(), &instruction);
        break;
      default:
        AddAttribute(r, &instruction);
    }
  }
  if (instruction.opcode == "parameter" && instruction.parameter_number < 0) {
    instruction.parameter_number = 0;  // proto3 leaves zero out
  }
  return instruction;
}

HloComputation ParseComputation(std::string_view message, const StackFrames& frames) {
  HloComputation computation;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) computation.name = r.text();
    if (r.field() == 2) computation.instructions.push_back(ParseInstruction(r.bytes(), frames));
    if (r.field() == 5) computation.id = r.number();
    if (r.field() == 6) computation.root_id = r.number();
    if (r.field() == 7) computation.is_fusion = r.number() != 0;
  }
  return computation;
}

// HloScheduleProto: a map from computation id to a list of instruction ids.
void ApplySchedule(std::string_view message, HloModule* module) {
  for (WireReader r(message); r.Next();) {
    int64_t computation_id = 0;
    std::vector<int64_t> order;
    for (WireReader entry(r.bytes()); entry.Next();) {
      if (entry.field() == 1) computation_id = entry.number();
      if (entry.field() != 2) continue;
      for (WireReader ids(entry.bytes()); ids.Next();) ids.AppendTo(&order);
    }
    for (HloComputation& computation : module->computations) {
      if (computation.id != computation_id) continue;
      computation.is_scheduled = true;
      std::map<int64_t, size_t> places;
      for (size_t i = 0; i < order.size(); ++i) places.emplace(order[i], i);
      const auto place = [&](const HloInstruction& i) {
        const auto found = places.find(i.id);
        return found == places.end() ? order.size() : found->second;
      };
      std::stable_sort(computation.instructions.begin(), computation.instructions.end(),
                       [&](const auto& a, const auto& b) { return place(a) < place(b); });
    }
  }
  module->is_scheduled = true;
}

// HloInputOutputAliasProto. Only the first level of an output tuple occurs in our programs.
void ParseAliases(std::string_view message, HloModule* module) {
  for (WireReader r(message); r.Next();) {
    std::vector<int64_t> output;
    int64_t parameter = 0;
    for (WireReader entry(r.bytes()); entry.Next();) {
      if (entry.field() == 1) entry.AppendTo(&output);
      if (entry.field() == 2) parameter = entry.number();
    }
    module->aliased_parameters[output.empty() ? 0 : output[0]] = parameter;
  }
}

}  // namespace

const HloComputation* HloModule::Find(int64_t computation_id) const {
  for (const HloComputation& computation : computations) {
    if (computation.id == computation_id) return &computation;
  }
  return nullptr;
}

Result<HloModule> ParseHlo(std::string_view bytes, std::string_view format) {
  if (format == "hlo_with_config") {
    std::string_view inner;
    for (WireReader r(bytes); r.Next();) {
      if (r.field() == 1) inner = r.bytes();
    }
    return ParseHlo(inner, "hlo");
  }
  if (format != "hlo") {
    return InvalidArgument("optimised program: expected the format hlo or hlo_with_config, got '" +
                           std::string(format) + "'");
  }
  StackFrames frames;  // stands behind the computations that refer to it
  for (WireReader r(bytes); r.Next();) {
    if (r.field() == 17) frames = ParseFrames(r.bytes());
  }
  HloModule module;
  std::string_view schedule;
  WireReader r(bytes);
  while (r.Next()) {
    if (r.field() == 1) module.name = r.text();
    if (r.field() == 3) module.computations.push_back(ParseComputation(r.bytes(), frames));
    if (r.field() == 6) module.entry_id = r.number();
    if (r.field() == 7) schedule = r.bytes();
    if (r.field() == 8) ParseAliases(r.bytes(), &module);
  }
  if (r.malformed() || module.entry() == nullptr) {
    return InvalidArgument("optimised program: " + std::to_string(bytes.size()) +
                           " bytes are no HLO module");
  }
  if (!schedule.empty()) ApplySchedule(schedule, &module);
  return module;
}

}  // namespace torch_tpu::aot
