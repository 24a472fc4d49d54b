// Reductions over dimensions and windows.
#include "shlo/attributes.h"
#include "shlo/check.h"
#include "shlo/ops.h"

namespace torch_tpu::shlo {
namespace {

// Operands share dims, and each has an initial value of rank 0 and its element type.
void CheckInits(std::string_view op, std::span<const Value> operands,
                std::span<const Value> inits) {
  if (operands.empty() || operands.size() != inits.size()) {
    Fail(op, "needs one initial value for each operand, got " + std::to_string(operands.size()) +
                 " operands and " + std::to_string(inits.size()) + " initial values");
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].dims() != operands[0].dims()) {
      Fail(op, "operands must have equal dims, got " + operands[0].type().ToString() + " and " +
                   operands[i].type().ToString());
    }
    CheckRankZero(op, "an initial value", inits[i]);
    if (inits[i].dtype() != operands[i].dtype()) {
      Fail(op, "an initial value must have the element type of " + operands[i].type().ToString() +
                   ", got " + inits[i].type().ToString());
    }
  }
}

void CheckBodyResults(std::string_view op, Builder& b, int region,
                      const std::vector<TensorType>& expected) {
  const std::vector<TensorType>& got = b.region_results(region);
  if (got != expected)
    Fail(op, "the body must return " + TypesText(expected) + ", got " + TypesText(got));
}

// A region over accumulators then elements, all rank 0, that returns new accumulators.
int CombineRegion(std::string_view op, std::span<const Value> inits, const Body& body) {
  std::vector<TensorType> accumulators;
  for (Value v : inits) accumulators.push_back(v.type());
  std::vector<TensorType> arguments = accumulators;
  arguments.insert(arguments.end(), accumulators.begin(), accumulators.end());
  Builder& b = inits[0].builder();
  int region = b.Region(arguments, body);
  CheckBodyResults(op, b, region, accumulators);
  return region;
}

Body AsBody(const Combine& combine) {
  return [&combine](std::span<const Value> v) { return std::vector<Value>{combine(v[0], v[1])}; };
}

std::vector<Value> Concat(std::span<const Value> a, std::span<const Value> b) {
  std::vector<Value> out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

bool AllAtLeast(const Dims& values, int64_t least) {
  for (int64_t v : values) {
    if (v < least) return false;
  }
  return true;
}

// Dims of the result of sliding `w` over `dims`.
Dims WindowResult(std::string_view op, const Dims& dims, const Window& w) {
  int64_t rank = static_cast<int64_t>(dims.size());
  CheckSize(op, "window_dimensions", w.dimensions, rank);
  CheckSize(op, "window_strides", w.strides, rank);
  CheckSize(op, "base_dilations", w.base_dilations, rank);
  CheckSize(op, "window_dilations", w.window_dilations, rank);
  CheckSize(op, "low padding", w.padding_low, rank);
  CheckSize(op, "high padding", w.padding_high, rank);
  if (!AllAtLeast(w.dimensions, 1) || !AllAtLeast(w.strides, 1) ||
      !AllAtLeast(w.base_dilations, 1) || !AllAtLeast(w.window_dilations, 1)) {
    Fail(op, "window dimensions, strides and dilations must be at least 1, got " +
                 DimsToString(w.dimensions) + ", " + DimsToString(w.strides) + ", " +
                 DimsToString(w.base_dilations) + " and " + DimsToString(w.window_dilations));
  }
  Dims out;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t dilated = dims[i] == 0 ? 0 : (dims[i] - 1) * w.base_dilations[i] + 1;
    int64_t padded = w.padding_low[i] + dilated + w.padding_high[i];
    int64_t window = (w.dimensions[i] - 1) * w.window_dilations[i] + 1;
    if (padded < 0) Fail(op, "padding crops more than dimension " + std::to_string(i) + " has");
    out.push_back(padded < window ? 0 : (padded - window) / w.strides[i] + 1);
  }
  return out;
}

std::vector<Attribute> WindowAttributes(const Window& w) {
  return {{"window_dimensions", I64ArrayText(w.dimensions)},
          {"window_strides", I64ArrayText(w.strides)},
          {"base_dilations", I64ArrayText(w.base_dilations)},
          {"window_dilations", I64ArrayText(w.window_dilations)},
          {"padding", PaddingText(w.padding_low, w.padding_high)}};
}

}  // namespace

std::vector<Value> reduce(std::span<const Value> operands, std::span<const Value> inits,
                          const Dims& dimensions, const Body& body) {
  constexpr std::string_view kOp = "stablehlo.reduce";
  CheckInits(kOp, operands, inits);
  CheckDistinctDims(kOp, "dimensions", dimensions, operands[0].rank());
  Dims kept;
  for (int64_t i = 0; i < operands[0].rank(); ++i) {
    if (!Contains(dimensions, i)) kept.push_back(operands[0].dims()[i]);
  }
  std::vector<TensorType> results;
  for (Value v : operands) results.push_back({v.dtype(), kept});
  int region = CombineRegion(kOp, inits, body);
  return operands[0].builder().Emit(kOp, Concat(operands, inits),
                                    {{"dimensions", I64ArrayText(dimensions)}}, std::move(results),
                                    {region});
}

Value reduce(Value operand, Value init, const Dims& dimensions, const Combine& combine) {
  return reduce(std::span(&operand, 1), std::span(&init, 1), dimensions, AsBody(combine))[0];
}

std::vector<Value> reduce_window(std::span<const Value> operands, std::span<const Value> inits,
                                 const Window& window, const Body& body) {
  constexpr std::string_view kOp = "stablehlo.reduce_window";
  CheckInits(kOp, operands, inits);
  Dims dims = WindowResult(kOp, operands[0].dims(), window);
  std::vector<TensorType> results;
  for (Value v : operands) results.push_back({v.dtype(), dims});
  int region = CombineRegion(kOp, inits, body);
  return operands[0].builder().Emit(kOp, Concat(operands, inits), WindowAttributes(window),
                                    std::move(results), {region});
}

Value reduce_window(Value operand, Value init, const Window& window, const Combine& combine) {
  return reduce_window(std::span(&operand, 1), std::span(&init, 1), window, AsBody(combine))[0];
}

Value select_and_scatter(Value operand, Value source, Value init, const Window& window,
                         const Combine& select, const Combine& scatter) {
  constexpr std::string_view kOp = "stablehlo.select_and_scatter";
  CheckInits(kOp, std::span(&operand, 1), std::span(&init, 1));
  CheckSameDType(kOp, operand, source);
  for (int64_t d : window.base_dilations) {
    if (d != 1) Fail(kOp, "has no base dilation, got " + DimsToString(window.base_dilations));
  }
  for (int64_t d : window.window_dilations) {
    if (d != 1) Fail(kOp, "has no window dilation, got " + DimsToString(window.window_dilations));
  }
  Dims expected = WindowResult(kOp, operand.dims(), window);
  if (source.dims() != expected) {
    Fail(kOp,
         "source must have dims " + DimsToString(expected) + ", got " + source.type().ToString());
  }
  Builder& b = operand.builder();
  TensorType element = init.type();
  int select_region = b.Region({element, element}, [&](std::span<const Value> v) {
    return std::vector<Value>{select(v[0], v[1])};
  });
  int scatter_region = CombineRegion(kOp, std::span(&init, 1), AsBody(scatter));
  return b.Emit(kOp, std::vector<Value>{operand, source, init},
                {{"window_dimensions", I64ArrayText(window.dimensions)},
                 {"window_strides", I64ArrayText(window.strides)},
                 {"padding", PaddingText(window.padding_low, window.padding_high)}},
                {operand.type()}, {select_region, scatter_region})[0];
}

}  // namespace torch_tpu::shlo
