// Ops that run regions (while, if, sort) and ops with effects beyond their operands.
#include "shlo/attributes.h"
#include "shlo/check.h"
#include "shlo/ops.h"

namespace torch_tpu::shlo {
namespace {

std::vector<TensorType> TypesOf(std::span<const Value> values) {
  std::vector<TensorType> types;
  for (Value v : values) types.push_back(v.type());
  return types;
}

void CheckReturns(std::string_view op, std::string_view what, const std::vector<TensorType>& got,
                  const std::vector<TensorType>& expected) {
  if (got != expected) {
    Fail(op, std::string(what) + " must return " + TypesText(expected) + ", got " + TypesText(got));
  }
}

}  // namespace

std::vector<Value> sort(std::span<const Value> operands, int64_t dimension,
                        const std::function<Value(std::span<const Value>)>& less, bool stable) {
  constexpr std::string_view kOp = "stablehlo.sort";
  if (operands.empty()) Fail(kOp, "needs at least one operand");
  CheckDim(kOp, dimension, operands[0]);
  std::vector<TensorType> elements;
  for (Value v : operands) {
    if (v.dims() != operands[0].dims()) {
      Fail(kOp, "operands must have equal dims, got " + operands[0].type().ToString() + " and " +
                    v.type().ToString());
    }
    elements.insert(elements.end(), 2, {v.dtype(), {}});
  }
  Builder& b = operands[0].builder();
  int region =
      b.Region(elements, [&](std::span<const Value> v) { return std::vector<Value>{less(v)}; });
  CheckReturns(kOp, "the comparator", b.region_results(region), {{DType::kPred, {}}});
  return b.Emit(kOp, operands, {{"dimension", I64Text(dimension)}, {"is_stable", BoolText(stable)}},
                TypesOf(operands), {region});
}

std::vector<Value> while_(std::span<const Value> init,
                          const std::function<Value(std::span<const Value>)>& condition,
                          const Body& body) {
  constexpr std::string_view kOp = "stablehlo.while";
  if (init.empty()) Fail(kOp, "needs at least one value");
  Builder& b = init[0].builder();
  std::vector<TensorType> types = TypesOf(init);
  int condition_region =
      b.Region(types, [&](std::span<const Value> v) { return std::vector<Value>{condition(v)}; });
  CheckReturns(kOp, "the condition", b.region_results(condition_region), {{DType::kPred, {}}});
  int body_region = b.Region(types, body);
  CheckReturns(kOp, "the body", b.region_results(body_region), types);
  return b.Emit(kOp, init, {}, types, {condition_region, body_region});
}

std::vector<Value> if_(Value pred, const std::function<std::vector<Value>()>& on_true,
                       const std::function<std::vector<Value>()>& on_false) {
  constexpr std::string_view kOp = "stablehlo.if";
  if (pred.type() != TensorType{DType::kPred, {}})
    Fail(kOp, "pred must be tensor<i1>, got " + pred.type().ToString());
  Builder& b = pred.builder();
  int true_region = b.Region({}, [&](std::span<const Value>) { return on_true(); });
  int false_region = b.Region({}, [&](std::span<const Value>) { return on_false(); });
  std::vector<TensorType> types = b.region_results(true_region);
  CheckReturns(kOp, "the false branch", b.region_results(false_region), types);
  return b.Emit(kOp, std::span(&pred, 1), {}, types, {true_region, false_region});
}

std::pair<Value, Value> rng_bit_generator(Value state, const TensorType& type) {
  constexpr std::string_view kOp = "stablehlo.rng_bit_generator";
  if (state.type() != TensorType{DType::kU64, {2}}) {
    Fail(kOp, "state must be tensor<2xui64>, got " + state.type().ToString());
  }
  if (!IsUnsigned(type.dtype)) Fail(kOp, "bits must be unsigned integers, got " + type.ToString());
  std::vector<Value> out = state.builder().Emit(
      kOp, std::span(&state, 1), {{"rng_algorithm", EnumText("rng_algorithm", "DEFAULT")}},
      {state.type(), type});
  return {out[0], out[1]};
}

std::vector<Value> custom_call(Builder& b, const std::string& target,
                               std::span<const Value> operands, std::vector<TensorType> results,
                               std::vector<Attribute> attributes, bool has_side_effect,
                               int api_version) {
  if (target.empty()) Fail("stablehlo.custom_call", "needs the name of its target");
  attributes.insert(attributes.begin(), {{"call_target_name", StringText(target)},
                                         {"has_side_effect", BoolText(has_side_effect)},
                                         {"api_version", std::to_string(api_version) + " : i32"}});
  return b.Emit("stablehlo.custom_call", operands, std::move(attributes), std::move(results));
}

Value optimization_barrier(Value operand) {
  return operand.builder().Emit1("stablehlo.optimization_barrier", {operand}, {}, operand.type());
}

}  // namespace torch_tpu::shlo
