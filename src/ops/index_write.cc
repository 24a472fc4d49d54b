// Writing by index tensors: index_put, index_add, index_copy, index_fill, index_reduce, put.
#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/scan_util.h"

namespace torch_tpu::ops {
namespace {

// The position of the mask when exactly one index is given and it is boolean, else -1.
int64_t OnlyMask(const std::vector<std::optional<Value>>& indices) {
  int64_t mask = -1, given = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d]) continue;
    ++given;
    if (indices[d]->dtype() == DType::kPred) mask = static_cast<int64_t>(d);
  }
  return given == 1 ? mask : -1;
}

// x[..., mask, ...] = values without knowing how many elements the mask selects: the k-th selected
// element takes the k-th entry of `values` along `dim`, or its only one.
Value PutMasked(Value x, int64_t dim, Value mask, Value values, bool accumulate) {
  // Dims of `values`: those of x with the masked ones made one, whose size is the number of
  // selected elements.
  const int64_t rank = x.rank() - mask.rank() + 1;
  while (values.rank() < rank) values = unsqueeze(values, 0);
  Value placed;
  if (values.dim(dim) == 1) {
    Dims dims = values.dims();
    dims.erase(dims.begin() + dim);
    dims.insert(dims.begin() + dim, mask.rank(), 1);
    placed = reshape(values, dims);
  } else {
    Value flat = convert(reshape(mask, {NumElements(mask.dims())}), DType::kS32);
    placed = TakeDim(values, dim, reshape(CumSum(flat, 0) - 1.0, mask.dims()));
  }
  Dims positions;
  for (int64_t d = 0; d < mask.rank(); ++d) positions.push_back(dim + d);
  placed = broadcast_to(placed, x.dims());
  return select(broadcast_in_dim(mask, x.dims(), positions), accumulate ? x + placed : placed, x);
}

// index_put(self, Tensor?[] indices, values, accumulate)
Value IndexPut(Call& c) {
  Value x = c.tensor(0), values = convert(c.tensor(2), x.dtype());
  const bool accumulate = c.boolean_or(3, false);
  const auto indices = c.opt_tensors(1);
  if (const int64_t dim = OnlyMask(indices); dim >= 0) {
    return PutMasked(x, dim, *indices[dim], values, accumulate);
  }
  const AdvancedIndex index = MakeAdvancedIndex(c, x, indices, Access::kScatter);
  values = broadcast_to(values, index.result_dims);
  if (NumElements(values.dims()) == 0 || NumElements(x.dims()) == 0) return x;
  shlo::ScatterDims dims;
  dims.update_window_dims = index.window_dims;
  dims.inserted_window_dims = index.dims;
  dims.scatter_dims_to_operand_dims = index.dims;
  dims.index_vector_dim = index.starts.rank() - 1;
  if (!accumulate) return scatter(x, index.starts, values, dims, Replace);
  return scatter(opmath(x), index.starts, opmath(values), dims, Add);
}

// Arguments (self, dim, index, ...) of the index_* operators.
struct Line {
  Value x;
  int64_t dim;
  Value index;
};

Line LineOf(Call& c, bool wraps) {
  Value x = AtLeast1d(c.tensor(0));
  const int64_t dim = shlo::wrap_dim(c.integer(1), x.rank());
  const IndexRange range = {x.dim(dim), wraps, "index out of range in self"};
  return {x, dim, ScatterIndex(c, AtLeast1d(c.tensor(2)), range)};
}

// index_add(self, dim, index, source, alpha)
Value IndexAdd(Call& c) {
  auto [x, dim, index] = LineOf(c, /*wraps=*/false);
  Value source = opmath(convert(AtLeast1d(c.tensor(3)), x.dtype()));
  if (!c.number_is(4, 1)) source = source * c.number(4);
  return ToOut(c, ScatterDim(opmath(x), dim, index, source, Add));
}

// index_copy(self, dim, index, source)
Value IndexCopy(Call& c) {
  auto [x, dim, index] = LineOf(c, /*wraps=*/false);
  return ToOut(c, ScatterDim(x, dim, index, AtLeast1d(c.tensor(3)), Replace));
}

// index_fill(self, dim, index, value)
Value IndexFill(Call& c) {
  auto [x, dim, index] = LineOf(c, /*wraps=*/true);
  Dims dims = x.dims();
  dims[dim] = index.dim(0);
  Value value = broadcast_in_dim(convert(c.tensor(3), x.dtype()), dims, {});
  return ToOut(c, ScatterDim(x, dim, index, value, Replace));
}

// index_reduce(self, dim, index, source, reduce, include_self)
Value IndexReduce(Call& c) {
  const Line line = LineOf(c, /*wraps=*/false);
  auto place = [&](Value into, Value updates, const shlo::Combine& combine) {
    return ScatterDim(into, line.dim, line.index, updates, combine);
  };
  return ToOut(
      c, ReduceInto(line.x, AtLeast1d(c.tensor(3)), c.string(4), c.boolean_or(5, true), place));
}

// put(self, index, source, accumulate)
Value Put(Call& c) {
  Value x = c.tensor(0);
  const int64_t n = NumElements(x.dims()), m = NumElements(c.tensor(1).dims());
  const IndexRange range = {n, true,
                            "index out of range: self has " + std::to_string(n) + " elements"};
  Value index = ScatterIndex(c, reshape(c.tensor(1), {m}), range);
  Value flat = reshape(x, {n}), source = reshape(convert(c.tensor(2), x.dtype()), {m});
  if (!c.boolean_or(3, false)) return ToOut(c, ScatterDim(flat, 0, index, source, Replace));
  return ToOut(c, ScatterDim(opmath(flat), 0, index, opmath(source), Add));
}

LOWER("aten::index_put", IndexPut);
LOWER("aten::_index_put_impl", IndexPut);
LOWER("aten::_unsafe_index_put", IndexPut);
LOWER("aten::index_add", IndexAdd);
LOWER("aten::index_copy", IndexCopy);
LOWER("aten::index_fill", IndexFill);
LOWER("aten::index_reduce", IndexReduce);
LOWER("aten::put", Put);

}  // namespace
}  // namespace torch_tpu::ops
