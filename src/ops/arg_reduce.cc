// Reductions that also say where: argmax, argmin, max and min over a dim.
#include "ops/reduce_util.h"

namespace torch_tpu::ops {

Value Beats(Value next, Value best, Extreme extreme, Value tie) {
  Value more = extreme == Extreme::kMax ? next > best : next < best;
  Value equal = next == best;
  if (IsFloat(next.dtype())) {
    more = more | (is_nan(next) & !is_nan(best));
    equal = equal | (is_nan(next) & is_nan(best));
  }
  return more | (equal & tie);
}

Value LeastExtreme(Builder& b, DType dtype, Extreme extreme) {
  return extreme == Extreme::kMax ? shlo::min_value(b, dtype) : shlo::max_value(b, dtype);
}

std::pair<Value, Value> ArgExtreme(Value x, int64_t dim, Extreme extreme) {
  Builder& b = x.builder();
  const DType index_dtype = IndexDType(x.dim(dim));
  // The identity loses against an equal element too, because its position is the last of all.
  const Value inits[] = {LeastExtreme(b, x.dtype(), extreme), shlo::max_value(b, index_dtype)};
  const Value operands[] = {x, index_like(x, dim, index_dtype)};
  auto best = reduce(operands, inits, {dim}, [&](std::span<const Value> v) -> Results {
    Value take = Beats(v[2], v[0], extreme, v[3] < v[1]);
    return {select(take, v[2], v[0]), select(take, v[3], v[1])};
  });
  return {best[0], best[1]};
}

namespace {

// argmax(self, dim?, keepdim)
Value ArgIndex(Call& c, Extreme extreme) {
  Value x = AtLeast1d(c.tensor(0));
  if (!c.has(1)) x = reshape(x, {NumElements(x.dims())});
  const int64_t dim = shlo::wrap_dim(c.integer_or(1, 0), x.rank());
  return ToOut(c, ArgExtreme(x, dim, extreme).second);
}

// max.dim(self, dim, keepdim)
Results ValueAndIndex(Call& c, Extreme extreme) {
  Value x = AtLeast1d(c.tensor(0));
  auto [value, index] = ArgExtreme(x, shlo::wrap_dim(c.integer(1), x.rank()), extreme);
  return {ToOut(c, value, 0), ToOut(c, index, 1)};
}

Value ArgMax(Call& c) { return ArgIndex(c, Extreme::kMax); }
Value ArgMin(Call& c) { return ArgIndex(c, Extreme::kMin); }
Results MaxDim(Call& c) { return ValueAndIndex(c, Extreme::kMax); }
Results MinDim(Call& c) { return ValueAndIndex(c, Extreme::kMin); }

LOWER("aten::argmax", ArgMax);
LOWER("aten::argmin", ArgMin);
LOWER("aten::max.dim", MaxDim);
LOWER("aten::min.dim", MinDim);

}  // namespace
}  // namespace torch_tpu::ops
