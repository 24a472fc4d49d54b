// Collects StableHLO operations and prints them as one module in textual form.
//
// One Builder makes one module with one public function @main. It belongs to one thread. Ops are
// made with the free functions of ops.h; Emit is their common bottom. Every misuse throws
// BuildError, after which the Builder is only good for destruction. The text is MLIR's generic form
// and parses with StableHLO 1.13 and later.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shlo/types.h"

namespace torch_tpu::shlo {

// Attributes of an entry argument. Aliasing is the index of the output whose buffer the argument
// may become.
struct ArgumentAttributes {
  std::optional<int> aliasing_output;
  std::string memory_kind;  // "" or "pinned_host"; mhlo.memory_kind
  std::string sharding;     // text of an sdy.sharding attribute, or ""
};

// A value as a rearrangement of another one's elements.
struct Rearranged {
  Value operand;
  Dims permutation;  // of the transpose; empty for a reshape
};

class Builder {
 public:
  explicit Builder(std::string module_name = "program");
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Adds an argument to @main. All arguments are added before Finish, in order.
  Value Argument(const TensorType& type, const ArgumentAttributes& attributes = {});
  void SetArgumentAttributes(int index, const ArgumentAttributes& attributes);
  // An attribute of the module, in MLIR syntax ("mhlo.num_partitions", "1 : i32").
  void SetModuleAttribute(const std::string& name, const std::string& text);

  // `name` is the full op name ("stablehlo.add", "chlo.erf").
  std::vector<Value> Emit(std::string_view name, std::span<const Value> operands,
                          std::vector<Attribute> attributes, std::vector<TensorType> results,
                          std::vector<int> regions = {});
  Value Emit1(std::string_view name, std::initializer_list<Value> operands,
              std::vector<Attribute> attributes, TensorType result);

  // Builds a region (the body of reduce, while, sort, ...): `body` receives the block arguments and
  // returns the values that the terminator returns. Gives the region's number for Emit. Values of
  // enclosing regions may be used inside.
  int Region(const std::vector<TensorType>& arguments,
             const std::function<std::vector<Value>(std::span<const Value>)>& body);

  // The types that the body of region number `region` returns. Valid until its Emit.
  const std::vector<TensorType>& region_results(int region) const;

  // Operations made while a name is set carry it as their location: loc("aten::add.Tensor").
  void SetLocation(std::string_view name);
  // And while a source is set, the line of the program that asked for them:
  // loc("aten::add.Tensor"("model.py":12:0)). An empty file ends it.
  void SetSource(std::string_view file, int line);

  // A reference to it stays valid while values are added.
  const TensorType& type(int32_t id) const { return values_[id].type; }

  // Ends @main with `results` and returns the module text. Once only.
  std::string Finish(std::span<const Value> results);

  // The number of operations made so far (all regions).
  int64_t num_ops() const { return num_ops_; }
  // Value of a rank-0 or splat constant that this builder made with `constant`, if `v` is one.
  std::optional<double> SplatConstant(Value v) const;
  void RememberSplat(Value v, double value) { splats_[v.id()] = value; }
  // How `v` came about, if this builder made it with `reshape` or `transpose`; else null. Valid
  // until the next value is remembered.
  const Rearranged* rearranged(Value v) const;
  void RememberRearranged(Value v, Rearranged from);

 private:
  struct ValueInfo {
    TensorType type;
    std::string name;  // "%3", "%3#1", "%arg0"
    int depth = 0;     // of the block that defines it
    int block = 0;     // that block's number
  };
  struct Block {
    std::string text;
    int number = 0;
  };
  struct RegionInfo {  // printed, waiting for its Emit
    std::string text;
    std::vector<TensorType> results;
    bool used = false;
  };

  Value AddValue(const TensorType& type, std::string name, int depth);
  const ValueInfo& Use(std::string_view op, Value value) const;
  void AppendOperands(std::string_view name, std::span<const Value> operands);
  void AppendIndent(std::string& out) const { out.append(2 * blocks_.size() + 2, ' '); }
  std::string Signature(std::span<const Value> results) const;

  std::deque<ValueInfo> values_;  // a deque, so that type() references survive growth
  std::vector<RegionInfo> regions_;
  std::vector<Block> blocks_;  // innermost last; blocks_[0] is @main
  std::vector<int32_t> argument_ids_;
  std::vector<ArgumentAttributes> argument_attributes_;
  std::vector<Attribute> module_attributes_;
  std::map<int32_t, double> splats_;
  std::map<int32_t, Rearranged> rearranged_;
  std::string module_name_;
  std::string location_;  // " loc(\"...\")" or ""
  std::string source_;    // "(\"model.py\":12:0)" or ""
  int64_t num_ops_ = 0;
  int next_name_ = 0;
  int next_block_ = 1;
  bool finished_ = false;
};

}  // namespace torch_tpu::shlo
