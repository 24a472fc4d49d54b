// The unique family.
//
// As with nonzero, the number of distinct values is known only when the program has run: outputs
// that have one entry a distinct value are padded to the largest size, and their number (int64,
// rank 0) comes last.
#include <algorithm>

#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/scan_util.h"
#include "ops/sort_util.h"

namespace torch_tpu::ops {
namespace {

// Rows in the order in which equal ones are neighbours.
struct Rows {
  Value x;      // [n, ...]
  Value order;  // [n]: where each row stood before; empty when nothing moved
};

// i1 [n]: row i differs from row i - 1. NaN differs from itself.
Value StartsRun(Value x) {
  const int64_t n = x.dim(0);
  Value differs = slice_dim(x, 0, 1, n) != slice_dim(x, 0, 0, n - 1);
  Dims rest;
  for (int64_t d = 1; d < x.rank(); ++d) rest.push_back(d);
  if (!rest.empty()) differs = reduce_any(differs, rest);
  return pad(differs, shlo::scalar(x.builder(), int64_t{1}, DType::kPred), {1}, {0}, {0});
}

// {distinct rows [n, ...], inverse [n], counts [n], number of distinct rows}.
Results Runs(const Rows& rows) {
  Builder& b = rows.x.builder();
  const int64_t n = rows.x.dim(0);
  const TensorType ints = {DType::kS64, {n}};
  if (n == 0) {
    return {rows.x, constant(b, 0, ints), constant(b, 0, ints), constant(b, 0, {DType::kS64, {}})};
  }
  Value starts = convert(StartsRun(rows.x), IndexDType(n));
  Value group = CumSum(starts, 0) - 1.0;
  Value distinct = ScatterDim(full_like(rows.x, 0), 0, group, rows.x, Replace);
  Value inverse = convert(group, DType::kS64);
  if (rows.order) inverse = ScatterDim(constant(b, 0, ints), 0, rows.order, inverse, Replace);
  Value counts = ScatterDim(constant(b, 0, ints), 0, group, constant(b, 1, ints), Add);
  return {distinct, inverse, counts, convert(reduce_sum(starts, {0}), DType::kS64)};
}

Rows SortedElements(Value x) {
  const Sorted sorted = SortDim(reshape(x, {NumElements(x.dims())}), 0, /*descending=*/false);
  return {sorted.values, sorted.indices};
}

// Rows [n, m] in lexicographic order: stable sorts by one column at a time, the last one first.
Rows SortedRows(Value x) {
  Builder& b = x.builder();
  const int64_t n = x.dim(0);
  Value columns = reshape(x, {n, NumElements(x.dims()) / std::max<int64_t>(n, 1)});
  const int64_t m = columns.dim(1);
  Value order = iota(b, 0, {IndexDType(n), {n}});
  if (n == 0 || m == 0) return {x, order};
  const Value init[] = {shlo::scalar(b, m - 1, DType::kS32), order};
  auto last = while_(
      init, [](std::span<const Value> v) { return v[0] >= 0.0; },
      [&](std::span<const Value> v) -> Results {
        const Value starts[] = {full_like(v[0], 0), v[0]};
        Value column = reshape(dynamic_slice(columns, starts, {n, 1}), {n});
        Value step = SortDim(TakeDim(column, 0, v[1]), 0, /*descending=*/false).indices;
        return {v[0] - 1.0, TakeDim(v[1], 0, step)};
      });
  return {TakeDim(x, 0, last[1]), last[1]};
}

// What was not asked for has no elements.
Value Wanted(Value v, bool wanted, const Dims& dims) {
  return wanted ? reshape(v, dims) : constant(v.builder(), 0, {DType::kS64, {0}});
}

Rows Elements(Value x) { return {reshape(x, {NumElements(x.dims())}), Value()}; }

// (values, inverse, counts, number) of all elements of self.
Results FlatOutputs(Value x, const Rows& rows, bool inverse, bool counts) {
  Results r = Runs(rows);
  return {r[0], Wanted(r[1], inverse, x.dims()), Wanted(r[2], counts, r[2].dims()), r[3]};
}

std::vector<TensorType> FlatShape(const Call& c, bool inverse, bool counts) {
  const TensorType& x = c.tensor(0).type();
  const Dims padded = {NumElements(x.dims)}, none = {0};
  return {{x.dtype, padded},
          {DType::kS64, inverse ? x.dims : none},
          {DType::kS64, counts ? padded : none},
          {DType::kS64, {}}};
}

// _unique2(self, sorted, return_inverse, return_counts)
Results Unique2(Call& c) {
  return FlatOutputs(c.tensor(0), SortedElements(c.tensor(0)), c.boolean(2), c.boolean(3));
}
std::vector<TensorType> Unique2Shape(const Call& c) {
  return FlatShape(c, c.boolean(2), c.boolean(3));
}

// _unique(self, sorted, return_inverse)
Results Unique(Call& c) {
  Results r = FlatOutputs(c.tensor(0), SortedElements(c.tensor(0)), c.boolean(2), false);
  return {r[0], r[1], r[3]};
}
std::vector<TensorType> UniqueShape(const Call& c) {
  auto types = FlatShape(c, c.boolean(2), false);
  return {types[0], types[1], types[3]};
}

// (values, inverse, counts, number) of the slices of self along a dim.
Results SliceOutputs(Value x, int64_t dim, bool sorted) {
  Dims to_front = {dim}, back;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d != dim) to_front.push_back(d);
    back.push_back(d < dim ? d + 1 : d == dim ? 0 : d);
  }
  Value front = transpose(x, to_front);
  Results r = Runs(sorted ? SortedRows(front) : Rows{front, Value()});
  r[0] = transpose(r[0], back);
  return r;
}

std::vector<TensorType> SliceShape(const Call& c, int64_t dim) {
  const TensorType& x = c.tensor(0).type();
  const Dims rows = {x.dims[shlo::wrap_dim(dim, x.rank())]};
  return {x, {DType::kS64, rows}, {DType::kS64, rows}, {DType::kS64, {}}};
}

// unique_consecutive(self, return_inverse, return_counts, dim?)
Results UniqueConsecutive(Call& c) {
  Value x = c.tensor(0);
  if (!c.has(3)) return FlatOutputs(x, Elements(x), c.boolean(1), c.boolean(2));
  return SliceOutputs(x, shlo::wrap_dim(c.integer(3), x.rank()), /*sorted=*/false);
}
std::vector<TensorType> UniqueConsecutiveShape(const Call& c) {
  if (!c.has(3)) return FlatShape(c, c.boolean(1), c.boolean(2));
  return SliceShape(c, c.integer(3));
}

// unique_dim(self, dim, sorted, return_inverse, return_counts)
Results UniqueDim(Call& c) {
  Value x = c.tensor(0);
  return SliceOutputs(x, shlo::wrap_dim(c.integer(1), x.rank()), /*sorted=*/true);
}
// unique_dim_consecutive(self, dim, return_inverse, return_counts)
Results UniqueDimConsecutive(Call& c) {
  Value x = c.tensor(0);
  return SliceOutputs(x, shlo::wrap_dim(c.integer(1), x.rank()), /*sorted=*/false);
}
std::vector<TensorType> UniqueDimShape(const Call& c) { return SliceShape(c, c.integer(1)); }

LOWER("aten::_unique2", Unique2, {.shape = Unique2Shape});
LOWER("aten::_unique", Unique, {.shape = UniqueShape});
LOWER("aten::unique_consecutive", UniqueConsecutive, {.shape = UniqueConsecutiveShape});
LOWER("aten::unique_dim", UniqueDim, {.shape = UniqueDimShape});
LOWER("aten::unique_dim_consecutive", UniqueDimConsecutive, {.shape = UniqueDimShape});

}  // namespace
}  // namespace torch_tpu::ops
