// Ops that move elements without computing on them.
#include <algorithm>

#include "shlo/attributes.h"
#include "shlo/check.h"
#include "shlo/ops.h"

namespace torch_tpu::shlo {
namespace {

// A splat stays one whatever its shape.
Value KeepSplat(Value from, Value to) {
  if (auto splat = from.builder().SplatConstant(from)) to.builder().RememberSplat(to, *splat);
  return to;
}

bool IsIdentity(const Dims& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

void CheckStarts(std::string_view op, Value operand, std::span<const Value> starts) {
  if (static_cast<int64_t>(starts.size()) != operand.rank()) {
    Fail(op, "needs one start for each dimension of " + operand.type().ToString() + ", got " +
                 std::to_string(starts.size()));
  }
  for (Value s : starts) {
    CheckRankZero(op, "a start", s);
    CheckKind(op, "a start", s, kIntegerKind);
    CheckSameDType(op, starts[0], s);
  }
}

}  // namespace

Value broadcast_in_dim(Value operand, const Dims& result_dims, const Dims& broadcast_dimensions) {
  constexpr std::string_view kOp = "stablehlo.broadcast_in_dim";
  CheckSize(kOp, "broadcast_dimensions", broadcast_dimensions, operand.rank());
  CheckDistinctDims(kOp, "broadcast_dimensions", broadcast_dimensions,
                    static_cast<int64_t>(result_dims.size()));
  for (int64_t i = 0; i < operand.rank(); ++i) {
    int64_t size = operand.dims()[i];
    if (size != 1 && size != result_dims[broadcast_dimensions[i]]) {
      Fail(kOp, operand.type().ToString() + " does not broadcast to dims " +
                    DimsToString(result_dims) + " along " + DimsToString(broadcast_dimensions));
    }
  }
  if (operand.dims() == result_dims && IsIdentity(broadcast_dimensions)) return operand;
  Value v = operand.builder().Emit1(kOp, {operand},
                                    {{"broadcast_dimensions", I64ArrayText(broadcast_dimensions)}},
                                    {operand.dtype(), result_dims});
  return KeepSplat(operand, v);
}

Value reshape(Value operand, const Dims& dims) {
  constexpr std::string_view kOp = "stablehlo.reshape";
  if (operand.dims() == dims) return operand;
  for (int64_t d : dims) {
    if (d < 0) Fail(kOp, "dims must not be negative, got " + DimsToString(dims));
  }
  if (NumElements(operand.dims()) != NumElements(dims)) {
    Fail(kOp, operand.type().ToString() + " and dims " + DimsToString(dims) +
                  " have different numbers of elements");
  }
  operand = Unreshaped(operand);
  if (operand.dims() == dims) return operand;
  Builder& b = operand.builder();
  Value v = b.Emit1(kOp, {operand}, {}, {operand.dtype(), dims});
  b.RememberRearranged(v, {operand, {}});
  return KeepSplat(operand, v);
}

Value Unreshaped(Value v) {
  const Rearranged* from = v.builder().rearranged(v);
  return from != nullptr && from->permutation.empty() ? from->operand : v;
}

std::optional<std::vector<Dims>> MergedDims(const Dims& from, const Dims& to) {
  std::vector<Dims> merged;
  size_t next = 0;
  for (int64_t size : to) {
    int64_t product = 1;
    Dims parts;
    while (next < from.size() && (parts.empty() || product < size)) {
      product *= from[next];
      parts.push_back(static_cast<int64_t>(next++));
    }
    if (parts.empty() || product != size || product == 0) return std::nullopt;
    merged.push_back(std::move(parts));
  }
  // Dims of size 1 that are left over belong to the last one.
  for (; next < from.size() && !merged.empty() && from[next] == 1; ++next) {
    merged.back().push_back(static_cast<int64_t>(next));
  }
  if (next < from.size()) return std::nullopt;
  return merged;
}

Value transpose(Value operand, const Dims& permutation) {
  constexpr std::string_view kOp = "stablehlo.transpose";
  CheckSize(kOp, "permutation", permutation, operand.rank());
  CheckDistinctDims(kOp, "permutation", permutation, operand.rank());
  if (IsIdentity(permutation)) return operand;
  TensorType result{operand.dtype(), {}};
  for (int64_t p : permutation) result.dims.push_back(operand.dims()[p]);
  Builder& b = operand.builder();
  Value v =
      b.Emit1(kOp, {operand}, {{"permutation", I64ArrayText(permutation)}}, std::move(result));
  b.RememberRearranged(v, {operand, permutation});
  return KeepSplat(operand, v);
}

Value slice(Value operand, const Dims& start, const Dims& limit, const Dims& strides) {
  constexpr std::string_view kOp = "stablehlo.slice";
  CheckSize(kOp, "start_indices", start, operand.rank());
  CheckSize(kOp, "limit_indices", limit, operand.rank());
  CheckSize(kOp, "strides", strides, operand.rank());
  TensorType result{operand.dtype(), {}};
  bool whole = true;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (start[i] < 0 || start[i] > limit[i] || limit[i] > operand.dims()[i] || strides[i] < 1) {
      Fail(kOp, "start " + DimsToString(start) + ", limit " + DimsToString(limit) + ", strides " +
                    DimsToString(strides) + " do not fit " + operand.type().ToString());
    }
    result.dims.push_back((limit[i] - start[i] + strides[i] - 1) / strides[i]);
    whole = whole && start[i] == 0 && limit[i] == operand.dims()[i] && strides[i] == 1;
  }
  if (whole) return operand;
  return operand.builder().Emit1(kOp, {operand},
                                 {{"start_indices", I64ArrayText(start)},
                                  {"limit_indices", I64ArrayText(limit)},
                                  {"strides", I64ArrayText(strides)}},
                                 std::move(result));
}

Value dynamic_slice(Value operand, std::span<const Value> starts, const Dims& sizes) {
  constexpr std::string_view kOp = "stablehlo.dynamic_slice";
  CheckStarts(kOp, operand, starts);
  CheckSize(kOp, "slice_sizes", sizes, operand.rank());
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (sizes[i] < 0 || sizes[i] > operand.dims()[i]) {
      Fail(kOp, "slice_sizes " + DimsToString(sizes) + " do not fit " + operand.type().ToString());
    }
  }
  if (sizes == operand.dims()) return operand;  // every start is clamped to 0
  std::vector<Value> operands = {operand};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return operand.builder().Emit(kOp, operands, {{"slice_sizes", I64ArrayText(sizes)}},
                                {TensorType{operand.dtype(), sizes}})[0];
}

Value dynamic_update_slice(Value operand, Value update, std::span<const Value> starts) {
  constexpr std::string_view kOp = "stablehlo.dynamic_update_slice";
  CheckSameDType(kOp, operand, update);
  CheckStarts(kOp, operand, starts);
  bool fits = update.rank() == operand.rank();
  for (int64_t i = 0; fits && i < operand.rank(); ++i) fits = update.dims()[i] <= operand.dims()[i];
  if (!fits) {
    Fail(kOp,
         "update " + update.type().ToString() + " does not fit into " + operand.type().ToString());
  }
  if (update.dims() == operand.dims()) return update;
  std::vector<Value> operands = {operand, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return operand.builder().Emit(kOp, operands, {}, {operand.type()})[0];
}

Value pad(Value operand, Value padding_value, const Dims& low, const Dims& high,
          const Dims& interior) {
  constexpr std::string_view kOp = "stablehlo.pad";
  CheckSameDType(kOp, operand, padding_value);
  CheckRankZero(kOp, "padding_value", padding_value);
  CheckSize(kOp, "edge_padding_low", low, operand.rank());
  CheckSize(kOp, "edge_padding_high", high, operand.rank());
  CheckSize(kOp, "interior_padding", interior, operand.rank());
  TensorType result{operand.dtype(), {}};
  bool same = true;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    int64_t size = operand.dims()[i];
    int64_t spread = size + std::max<int64_t>(size - 1, 0) * interior[i];
    int64_t padded = spread + low[i] + high[i];
    if (interior[i] < 0 || padded < 0) {
      Fail(kOp, "low " + DimsToString(low) + ", high " + DimsToString(high) + ", interior " +
                    DimsToString(interior) + " do not fit " + operand.type().ToString());
    }
    result.dims.push_back(padded);
    same = same && low[i] == 0 && high[i] == 0 && interior[i] == 0;
  }
  if (same) return operand;
  return operand.builder().Emit1(kOp, {operand, padding_value},
                                 {{"edge_padding_low", I64ArrayText(low)},
                                  {"edge_padding_high", I64ArrayText(high)},
                                  {"interior_padding", I64ArrayText(interior)}},
                                 std::move(result));
}

Value concatenate(std::span<const Value> operands, int64_t dimension) {
  constexpr std::string_view kOp = "stablehlo.concatenate";
  if (operands.empty()) Fail(kOp, "needs at least one operand");
  CheckDim(kOp, dimension, operands[0]);
  TensorType result = operands[0].type();
  result.dims[dimension] = 0;
  for (Value v : operands) {
    TensorType type = v.type();
    bool fits = type.rank() == result.rank() && type.dtype == result.dtype;
    for (int64_t i = 0; fits && i < result.rank(); ++i)
      fits = i == dimension || type.dims[i] == result.dims[i];
    if (!fits) {
      Fail(kOp, "operands must agree except in dimension " + std::to_string(dimension) + ", got " +
                    operands[0].type().ToString() + " and " + type.ToString());
    }
    result.dims[dimension] += type.dims[dimension];
  }
  if (operands.size() == 1) return operands[0];
  return operands[0].builder().Emit(kOp, operands, {{"dimension", I64Text(dimension)}},
                                    {std::move(result)})[0];
}

Value reverse(Value operand, const Dims& dimensions) {
  constexpr std::string_view kOp = "stablehlo.reverse";
  CheckDistinctDims(kOp, "dimensions", dimensions, operand.rank());
  if (dimensions.empty()) return operand;
  return operand.builder().Emit1(kOp, {operand}, {{"dimensions", I64ArrayText(dimensions)}},
                                 operand.type());
}

}  // namespace torch_tpu::shlo
