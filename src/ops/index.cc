// Reading by index tensors: index, index_select, gather, take.
#include "ops/index_util.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

// index.Tensor(self, Tensor?[] indices). Boolean masks are turned into index numbers by the caller.
Value Index(Call& c) {
  Value x = c.tensor(0);
  const AdvancedIndex index = MakeAdvancedIndex(c, x, c.opt_tensors(1), Access::kGather);
  if (NumElements(index.result_dims) == 0) {
    return constant(c.builder(), 0, {x.dtype(), index.result_dims});
  }
  shlo::GatherDims dims;
  dims.offset_dims = index.window_dims;
  dims.collapsed_slice_dims = index.dims;
  dims.start_index_map = index.dims;
  dims.index_vector_dim = index.starts.rank() - 1;
  Dims sizes = x.dims();
  for (int64_t d : index.dims) sizes[d] = 1;
  return gather(x, index.starts, dims, sizes);
}

// index_select(self, dim, index)
Value IndexSelect(Call& c) {
  Value x = AtLeast1d(c.tensor(0));
  const int64_t dim = shlo::wrap_dim(c.integer(1), x.rank());
  Value index =
      GatherIndex(c, AtLeast1d(c.tensor(2)), {x.dim(dim), false, "index out of range in self"});
  return ToOut(c, TakeDim(x, dim, index));
}

// gather(self, dim, index, sparse_grad)
Value Gather(Call& c) {
  Value x = AtLeast1d(c.tensor(0)), index = AtLeast1d(c.tensor(2));
  const int64_t dim = shlo::wrap_dim(c.integer(1), x.rank());
  return ToOut(
      c, GatherAlong(x, dim, GatherIndex(c, index, BoundsOf(dim, x.dim(dim), /*wraps=*/false))));
}

// take(self, index)
Value Take(Call& c) {
  Value x = c.tensor(0);
  const int64_t n = NumElements(x.dims());
  Value index = GatherIndex(
      c, c.tensor(1), {n, true, "index out of range: self has " + std::to_string(n) + " elements"});
  return TakeDim(reshape(x, {n}), 0, index);
}

LOWER("aten::index", Index);
LOWER("aten::_unsafe_index", Index);
LOWER("aten::index_select", IndexSelect);
LOWER("aten::gather", Gather);
LOWER("aten::take", Take);

}  // namespace
}  // namespace torch_tpu::ops
