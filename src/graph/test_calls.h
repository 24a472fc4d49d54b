// For tests: call descriptions made by hand, for regions, the recorder and the sender.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/hash.h"
#include "graph/region.h"

namespace torch_tpu::graph::testing {

inline const TensorType* Type() { return InternType(DType::kF32, {4}); }

inline ValueRef SplatValue() { return Value::Splat(Type(), {}); }

inline OperandRef Operand(ValueRef value) {
  const DType dtype = value ? DType::kInvalid : DType::kF32;
  return {std::move(value), dtype, {}};
}

inline uint64_t HashOfName(const std::string& name) { return Hasher().Add(name).Finish(); }

// A call with one result that cannot be built: for what is decided without building.
inline std::shared_ptr<CallSpec> Spec(const std::string& name, int operands, uint64_t size = 7) {
  auto spec = std::make_shared<CallSpec>();
  spec->name = name;
  spec->key = {HashOfName(name), size, 0};
  spec->operands.assign(operands, *Type());
  spec->result_types = {Type()};
  return spec;
}

// Its result may take the buffer of its operand.
inline std::shared_ptr<CallSpec> InPlace(const std::string& name) {
  auto spec = Spec(name, 1);
  spec->aliases = {{0, 0}};
  return spec;
}

inline TensorSpec Whole(int operand) {
  TensorSpec t;
  t.operand = operand;
  t.base = *Type();
  t.dtype = DType::kF32;
  t.sizes = Type()->dims;
  return t;
}

// A call of two operands and one result.
inline std::shared_ptr<CallSpec> BinarySpec(const std::string& name,
                                            const ops::LoweringEntry* lowering) {
  auto spec = Spec(name, 2);
  SubCall call;
  call.lowering = lowering;
  call.args = {{Whole(0)}, {Whole(1)}};
  OutputSpec o;
  o.type = o.result = *Type();
  call.outputs = {o};
  call.common = DType::kF32;
  spec->calls = {call};
  return spec;
}

inline std::shared_ptr<CallSpec> AddSpec(const std::string& name = "test::add") {
  static const ops::LoweringEntry entry = {
      "test::add", [](ops::Call& c) { return ops::Results{c.tensor(0) + c.tensor(1)}; },
      nullptr,     {},
      __FILE__,    __LINE__};
  return BinarySpec(name, &entry);
}

// Its lowering fails.
inline std::shared_ptr<CallSpec> Unbuildable(const std::string& name) {
  static const ops::LoweringEntry entry = {
      "test::unbuildable",
      [](ops::Call&) -> ops::Results { throw shlo::BuildError("cannot be lowered"); },
      nullptr,
      {},
      __FILE__,
      __LINE__};
  return BinarySpec(name, &entry);
}

}  // namespace torch_tpu::graph::testing
