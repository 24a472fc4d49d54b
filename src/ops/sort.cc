// sort, topk, and the elements at a rank: kthvalue, median, nanmedian, mode.
#include <algorithm>

#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/scan_util.h"
#include "ops/sort_util.h"

namespace torch_tpu::ops {

Sorted SortDim(Value x, int64_t dim, bool descending) {
  Value positions = index_like(x, dim, IndexDType(x.dim(dim)));
  if (NumElements(x.dims()) == 0) return {x, positions};
  const Value operands[] = {x, positions};
  auto sorted = sort(operands, dim, [&](std::span<const Value> v) {
    Value a = v[0], b = v[1];
    Value before = descending ? a > b : a < b;
    if (!IsFloat(x.dtype())) return before;
    return before | (descending ? is_nan(a) & !is_nan(b) : is_nan(b) & !is_nan(a));
  });
  return {sorted[0], sorted[1]};
}

namespace {

Results SortOut(Call& c, int64_t dim, bool descending) {
  Value x = AtLeast1d(c.tensor(0));
  const Sorted sorted = SortDim(x, shlo::wrap_dim(dim, x.rank()), descending);
  return {ToOut(c, sorted.values, 0), ToOut(c, sorted.indices, 1)};
}

// sort(self, dim, descending)
Results Sort(Call& c) { return SortOut(c, c.integer(1), c.boolean(2)); }
// sort.stable(self, stable?, dim, descending)
Results SortStable(Call& c) { return SortOut(c, c.integer(2), c.boolean(3)); }

// topk(self, k, dim, largest, sorted)
Results TopK(Call& c) {
  Value x = AtLeast1d(c.tensor(0));
  const int64_t k = c.integer(1), dim = shlo::wrap_dim(c.integer(2), x.rank());
  const Sorted sorted = SortDim(x, dim, c.boolean(3));
  return {ToOut(c, slice_dim(sorted.values, dim, 0, k), 0),
          ToOut(c, slice_dim(sorted.indices, dim, 0, k), 1)};
}

// kthvalue(self, k, dim, keepdim)
Results KthValue(Call& c) {
  Value x = AtLeast1d(c.tensor(0));
  const int64_t k = c.integer(1), dim = shlo::wrap_dim(c.integer(2), x.rank());
  const Sorted sorted = SortDim(x, dim, /*descending=*/false);
  return {ToOut(c, slice_dim(sorted.values, dim, k - 1, k), 0),
          ToOut(c, slice_dim(sorted.indices, dim, k - 1, k), 1)};
}

enum class NanRule { kPropagate, kIgnore };

// The lower median along `dim` (kept as size 1) and its position.
Sorted Median(Value x, int64_t dim, NanRule rule) {
  const int64_t n = x.dim(dim);
  const Sorted sorted = SortDim(x, dim, /*descending=*/false);
  const DType dtype = sorted.indices.dtype();
  Value nans = reduce_sum(convert(is_nan(x), dtype), {dim}, /*keepdim=*/true);
  Value rank;
  if (rule == NanRule::kIgnore) {
    Value last = static_cast<double>(n - 1) - nans;
    rank = max(last, full_like(last, 0)) / 2.0;
  } else {
    // The first NaN follows all numbers.
    const int64_t middle = (n - 1) / 2;
    rank = where(nans > 0.0, static_cast<double>(n) - nans, static_cast<double>(middle));
  }
  return {GatherAlong(sorted.values, dim, rank), GatherAlong(sorted.indices, dim, rank)};
}

// median.dim(self, dim, keepdim)
Results MedianDim(Call& c, NanRule rule) {
  Value x = AtLeast1d(c.tensor(0));
  const Sorted median = Median(x, shlo::wrap_dim(c.integer(1), x.rank()), rule);
  return {ToOut(c, median.values, 0), ToOut(c, median.indices, 1)};
}

// median(self)
Value MedianAll(Call& c, NanRule rule) {
  Value x = c.tensor(0);
  const int64_t n = NumElements(x.dims());
  if (n == 0) return shlo::scalar(c.builder(), std::nan(""), x.dtype());
  return ToOut(c, Median(reshape(x, {n}), 0, rule).values);
}

Results MedianDimPropagate(Call& c) { return MedianDim(c, NanRule::kPropagate); }
Results MedianDimIgnore(Call& c) { return MedianDim(c, NanRule::kIgnore); }
Value MedianAllPropagate(Call& c) { return MedianAll(c, NanRule::kPropagate); }
Value MedianAllIgnore(Call& c) { return MedianAll(c, NanRule::kIgnore); }

// mode(self, dim, keepdim): the smallest of the most frequent values and the position of its last
// occurrence.
Results Mode(Call& c) {
  Value x = AtLeast1d(c.tensor(0));
  const int64_t dim = shlo::wrap_dim(c.integer(1), x.rank()), n = x.dim(dim);
  const Sorted sorted = SortDim(x, dim, /*descending=*/false);
  Value position = index_like(x, dim, sorted.indices.dtype());
  // The number of elements in a run up to each position: the longest run ends at the first maximum.
  Value differs = slice_dim(sorted.values, dim, 1, n) != slice_dim(sorted.values, dim, 0, n - 1);
  Dims low(x.rank(), 0), none(x.rank(), 0);
  low[dim] = 1;
  Value starts = pad(differs, shlo::scalar(c.builder(), int64_t{1}, DType::kPred), low, none, none);
  Value run_start =
      Scan(where(starts, position, 0.0), shlo::scalar(c.builder(), int64_t{0}, position.dtype()),
           dim, [](Value a, Value b) { return max(a, b); });
  Value end = ArgExtreme(position - run_start, dim, Extreme::kMax).second;
  end = unsqueeze(end, dim);
  return {ToOut(c, GatherAlong(sorted.values, dim, end), 0),
          ToOut(c, GatherAlong(sorted.indices, dim, end), 1)};
}

LOWER("aten::sort", Sort);
LOWER("aten::sort.stable", SortStable);
LOWER("aten::topk", TopK);
LOWER("aten::kthvalue", KthValue);
LOWER("aten::median", MedianAllPropagate);
LOWER("aten::median.dim", MedianDimPropagate);
LOWER("aten::nanmedian", MedianAllIgnore);
LOWER("aten::nanmedian.dim", MedianDimIgnore);
LOWER("aten::mode", Mode);

}  // namespace
}  // namespace torch_tpu::ops
