// Sorting in PyTorch's order: stable, NaN greatest.
#pragma once

#include <utility>

#include "ops/call.h"

namespace torch_tpu::ops {

struct Sorted {
  Value values;
  Value indices;  // positions along the dim before sorting, of IndexDType
};
Sorted SortDim(Value x, int64_t dim, bool descending);

// For each element v of `values` the number of leading elements e of its row of `sequence` (last
// dim, non-decreasing) for which `before(e, v)` holds, by binary search: of IndexDType, with the
// dims of `values`. `sequence` has rank 1, or the dims of `values` but for the last.
Value BinarySearch(Value sequence, Value values, const shlo::Combine& before);

}  // namespace torch_tpu::ops
