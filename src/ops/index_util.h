// Gathers and scatters in the forms that indexing operators need.
//
// Index tensors first go through GatherIndex or ScatterIndex, which settle PyTorch's rules for
// negative numbers, the Debug check and XLA's index width. What is out of range afterwards is
// clamped by gathers and dropped by scatters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/call.h"

namespace torch_tpu::ops {

struct IndexRange {
  int64_t size = 0;     // of the indexed dim
  bool wraps = false;   // negative numbers count from the end
  std::string message;  // of the error in Debug mode
};
// "index out of bounds for dimension 0 with size 3".
IndexRange BoundsOf(int64_t dim, int64_t size, bool wraps);
Value GatherIndex(Call& c, Value index, const IndexRange& range);
Value ScatterIndex(Call& c, Value index, const IndexRange& range);

// x with `dim` replaced by the dims of `index` (any rank): x[..., index, ...].
Value TakeDim(Value x, int64_t dim, Value index);
// The inverse: `updates` has the dims that TakeDim would give for a rank-1 `index`.
Value ScatterDim(Value x, int64_t dim, Value index, Value updates, const shlo::Combine& combine);
// torch.gather: result[i][j] = x[index[i][j]][j] for dim 0; `index` may be smaller than x in the
// other dims.
Value GatherAlong(Value x, int64_t dim, Value index);
// torch.scatter; `updates` has at least the dims of `index`.
Value ScatterAlong(Value x, int64_t dim, Value index, Value updates, const shlo::Combine& combine);

// Combiners for scatters.
inline Value Replace(Value, Value update) { return update; }
inline Value Add(Value old, Value update) { return old + update; }
inline Value Multiply(Value old, Value update) { return old * update; }

// Scatters `updates` with one reduction of index_reduce and scatter_reduce: "sum", "prod", "mean",
// "amax" or "amin" (also "add" and "multiply"). `scatter` places updates into a value like `self`.
// Half types accumulate in float32.
using ScatterInto = std::function<Value(Value into, Value updates, const shlo::Combine& combine)>;
Value ReduceInto(Value self, Value updates, const std::string& reduce, bool include_self,
                 const ScatterInto& scatter);

// A list of index tensors and None as in x[:, i, :, j].
struct AdvancedIndex {
  Dims dims;         // of x that are indexed, ascending
  Value starts;      // [...broadcast dims of the index tensors, number of dims]
  Dims window_dims;  // dims of the result that come from dims of x that are not indexed
  Dims result_dims;
};
enum class Access { kGather, kScatter };
AdvancedIndex MakeAdvancedIndex(Call& c, Value x, const std::vector<std::optional<Value>>& indices,
                                Access access);

}  // namespace torch_tpu::ops
