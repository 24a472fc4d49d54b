// Prints operations as they are made; Finish wraps them in the module and the entry function.
#include "shlo/builder.h"

#include <utility>

#include "shlo/attributes.h"

namespace torch_tpu::shlo {
namespace {

bool IsBareIdentifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (char c : name) {
    bool ok =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!ok) return false;
  }
  return true;
}

std::string ValueName(std::string_view prefix, int64_t number) {
  std::string out(prefix);
  AppendInt(out, number);
  return out;
}

void AppendAttributes(std::string& out, const std::vector<Attribute>& attributes) {
  if (attributes.empty()) return;
  out += " {";
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (i > 0) out += ", ";
    out += attributes[i].name;
    out += " = ";
    out += attributes[i].text;
  }
  out += '}';
}

void AppendFunctionType(std::string& out, std::span<const Value> operands,
                        const std::vector<TensorType>& results) {
  out += " : (";
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) out += ", ";
    AppendType(out, operands[i].type());
  }
  out += ") -> ";
  if (results.size() != 1) out += '(';
  for (size_t i = 0; i < results.size(); ++i) {
    if (i > 0) out += ", ";
    AppendType(out, results[i]);
  }
  if (results.size() != 1) out += ')';
}

void AppendArgumentAttributes(std::string& out, const ArgumentAttributes& a) {
  std::vector<Attribute> list;
  if (a.aliasing_output)
    list.push_back({"tf.aliasing_output", std::to_string(*a.aliasing_output) + " : i32"});
  if (!a.memory_kind.empty()) list.push_back({"mhlo.memory_kind", StringText(a.memory_kind)});
  if (!a.sharding.empty()) list.push_back({"sdy.sharding", a.sharding});
  AppendAttributes(out, list);
}

}  // namespace

std::string TensorType::ToString() const {
  std::string out;
  AppendType(out, *this);
  return out;
}

const TensorType& Value::type() const {
  if (builder_ == nullptr) throw BuildError("the type of an empty value was asked for");
  return builder_->type(id_);
}

int64_t Value::dim(int64_t i) const {
  const Dims& d = dims();
  int64_t rank = static_cast<int64_t>(d.size());
  int64_t wrapped = i < 0 ? i + rank : i;
  if (wrapped < 0 || wrapped >= rank) {
    throw BuildError("dimension " + std::to_string(i) + " was asked of " + type().ToString());
  }
  return d[wrapped];
}

Builder::Builder(std::string module_name) : module_name_(std::move(module_name)) {
  blocks_.emplace_back();
  blocks_[0].text.reserve(1024);
}

Value Builder::AddValue(const TensorType& type, std::string name, int depth) {
  values_.push_back({type, std::move(name), depth, blocks_[depth].number});
  return Value(this, static_cast<int32_t>(values_.size()) - 1);
}

Value Builder::Argument(const TensorType& type, const ArgumentAttributes& attributes) {
  Value v = AddValue(type, ValueName("%arg", static_cast<int64_t>(argument_ids_.size())), 0);
  argument_ids_.push_back(v.id());
  argument_attributes_.push_back(attributes);
  return v;
}

void Builder::SetArgumentAttributes(int index, const ArgumentAttributes& attributes) {
  if (index < 0 || index >= static_cast<int>(argument_attributes_.size())) {
    throw BuildError("there is no entry argument " + std::to_string(index));
  }
  argument_attributes_[index] = attributes;
}

void Builder::SetModuleAttribute(const std::string& name, const std::string& text) {
  for (Attribute& a : module_attributes_) {
    if (a.name == name) {
      a.text = text;
      return;
    }
  }
  module_attributes_.push_back({name, text});
}

const Builder::ValueInfo& Builder::Use(std::string_view op, Value value) const {
  if (value.empty()) throw BuildError(std::string(op) + ": an operand is empty");
  if (&value.builder() != this)
    throw BuildError(std::string(op) + ": an operand belongs to another program");
  const ValueInfo& info = values_[value.id()];
  if (info.depth >= static_cast<int>(blocks_.size()) || blocks_[info.depth].number != info.block) {
    throw BuildError(std::string(op) + ": operand " + info.name +
                     " was made inside a region that has ended");
  }
  return info;
}

void Builder::AppendOperands(std::string_view name, std::span<const Value> operands) {
  std::string& out = blocks_.back().text;
  out += '"';
  out += name;
  out += "\"(";
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) out += ", ";
    out += Use(name, operands[i]).name;
  }
  out += ')';
}

std::vector<Value> Builder::Emit(std::string_view name, std::span<const Value> operands,
                                 std::vector<Attribute> attributes, std::vector<TensorType> results,
                                 std::vector<int> regions) {
  if (finished_) throw BuildError(std::string(name) + ": the program is already finished");
  std::string& out = blocks_.back().text;
  AppendIndent(out);
  std::string result_name = ValueName("%", next_name_);
  if (!results.empty()) {
    ++next_name_;
    out += result_name;
    if (results.size() > 1) {
      out += ':';
      AppendInt(out, static_cast<int64_t>(results.size()));
    }
    out += " = ";
  }
  AppendOperands(name, operands);
  for (size_t i = 0; i < regions.size(); ++i) {
    RegionInfo& region = regions_.at(regions[i]);
    if (std::exchange(region.used, true))
      throw BuildError(std::string(name) + ": a region is used twice");
    out += i == 0 ? " ({\n" : ", {\n";
    out += std::exchange(region.text, {});
    AppendIndent(out);
    out += '}';
  }
  if (!regions.empty()) out += ')';
  AppendAttributes(out, attributes);
  AppendFunctionType(out, operands, results);
  out += location_;
  out += '\n';
  ++num_ops_;

  std::vector<Value> values;
  values.reserve(results.size());
  int depth = static_cast<int>(blocks_.size()) - 1;
  for (size_t i = 0; i < results.size(); ++i) {
    std::string value_name =
        results.size() == 1 ? result_name : ValueName(result_name + "#", static_cast<int64_t>(i));
    values.push_back(AddValue(results[i], std::move(value_name), depth));
  }
  return values;
}

Value Builder::Emit1(std::string_view name, std::initializer_list<Value> operands,
                     std::vector<Attribute> attributes, TensorType result) {
  std::vector<TensorType> results;
  results.push_back(std::move(result));
  return Emit(name, std::span(operands.begin(), operands.size()), std::move(attributes),
              std::move(results))[0];
}

int Builder::Region(const std::vector<TensorType>& arguments,
                    const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  blocks_.emplace_back();
  Block& block = blocks_.back();
  block.number = next_block_++;
  int depth = static_cast<int>(blocks_.size()) - 1;
  std::vector<Value> values;
  if (!arguments.empty()) {
    block.text.append(2 * depth + 2, ' ');
    block.text += "^bb0(";
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (i > 0) block.text += ", ";
      values.push_back(AddValue(arguments[i], ValueName("%", next_name_++), depth));
      block.text += values_.back().name;
      block.text += ": ";
      AppendType(block.text, arguments[i]);
    }
    block.text += "):\n";
  }
  std::vector<Value> returned = body(values);
  RegionInfo region;
  for (Value v : returned) region.results.push_back(Use("stablehlo.return", v).type);
  Emit("stablehlo.return", returned, {}, {});
  region.text = std::move(blocks_.back().text);
  blocks_.pop_back();
  regions_.push_back(std::move(region));
  return static_cast<int>(regions_.size()) - 1;
}

const std::vector<TensorType>& Builder::region_results(int region) const {
  return regions_.at(region).results;
}

void Builder::SetLocation(std::string_view name) {
  location_ = name.empty() ? "" : " loc(" + StringText(name) + source_ + ")";
}

void Builder::SetSource(std::string_view file, int line) {
  source_ = file.empty() ? "" : "(" + StringText(file) + ":" + std::to_string(line) + ":0)";
}

std::string Builder::Signature(std::span<const Value> results) const {
  std::string out = "  func.func public @main(";
  for (size_t i = 0; i < argument_ids_.size(); ++i) {
    const ValueInfo& info = values_[argument_ids_[i]];
    if (i > 0) out += ", ";
    out += info.name;
    out += ": ";
    AppendType(out, info.type);
    const ArgumentAttributes& a = argument_attributes_[i];
    if (a.aliasing_output) {
      size_t k = static_cast<size_t>(*a.aliasing_output);
      if (k >= results.size() || results[k].type() != info.type) {
        throw BuildError("argument " + std::to_string(i) + " of type " + info.type.ToString() +
                         " cannot alias output " + std::to_string(*a.aliasing_output) +
                         (k < results.size() ? " of type " + results[k].type().ToString() : ""));
      }
    }
    AppendArgumentAttributes(out, a);
  }
  out += ") -> (";
  for (size_t i = 0; i < results.size(); ++i) {
    if (i > 0) out += ", ";
    AppendType(out, results[i].type());
  }
  return out + ") {\n";
}

std::string Builder::Finish(std::span<const Value> results) {
  if (blocks_.size() != 1) throw BuildError("a program cannot be finished inside a region");
  location_.clear();
  Emit("func.return", results, {}, {});
  finished_ = true;
  std::string out;
  out.reserve(blocks_[0].text.size() + 256 + 64 * argument_ids_.size());
  out += "module @";
  out += IsBareIdentifier(module_name_) ? module_name_ : StringText(module_name_);
  if (!module_attributes_.empty()) out += " attributes";
  AppendAttributes(out, module_attributes_);
  out += " {\n";
  out += Signature(results);
  out += blocks_[0].text;
  out += "  }\n}\n";
  return out;
}

std::optional<double> Builder::SplatConstant(Value v) const {
  auto it = splats_.find(v.id());
  if (it == splats_.end()) return std::nullopt;
  return it->second;
}

const Rearranged* Builder::rearranged(Value v) const {
  auto it = rearranged_.find(v.id());
  return it == rearranged_.end() ? nullptr : &it->second;
}

void Builder::RememberRearranged(Value v, Rearranged from) {
  rearranged_[v.id()] = std::move(from);
}

}  // namespace torch_tpu::shlo
