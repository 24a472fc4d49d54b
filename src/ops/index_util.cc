// Gathers and scatters in the forms that indexing operators need.
#include "ops/index_util.h"

#include <algorithm>

#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

// Non-negative index numbers as far as PyTorch's rules go, at least 32 bits wide.
Value Wrapped(Call& c, Value index, const IndexRange& range) {
  if (!IsInteger(index.dtype())) {
    throw shlo::BuildError(c.name() + ": index tensors must be integers, got " +
                           std::string(DTypeName(index.dtype())));
  }
  const bool narrow = DTypeSize(index.dtype()) <= 4 && index.dtype() != DType::kU32 &&
                      IndexDType(range.size) == DType::kS32;
  Value i = convert(index, narrow ? DType::kS32 : DType::kS64);
  Value size = shlo::scalar(c.builder(), range.size, i.dtype());
  if (c.debug()) {
    Value low = range.wraps ? i >= -size : i >= 0.0;
    c.check_index(reduce_all(low & (i < size), AllDims(i)), range.message);
  }
  return range.wraps ? where(i < 0.0, i + size, i) : i;
}

}  // namespace

IndexRange BoundsOf(int64_t dim, int64_t size, bool wraps) {
  return {size, wraps,
          "index out of bounds for dimension " + std::to_string(dim) + " with size " +
              std::to_string(size)};
}

Value GatherIndex(Call& c, Value index, const IndexRange& range) {
  Value i = Wrapped(c, index, range);
  if (i.dtype() == IndexDType(range.size)) return i;
  // 64-bit numbers would change when narrowed before they are clamped.
  Value last = shlo::scalar(c.builder(), std::max<int64_t>(range.size - 1, 0), i.dtype());
  return convert(clamp(full_like(last, 0), i, last), IndexDType(range.size));
}

Value ScatterIndex(Call& c, Value index, const IndexRange& range) {
  Value i = Wrapped(c, index, range);
  if (i.dtype() == IndexDType(range.size)) return i;
  Value size = shlo::scalar(c.builder(), range.size, i.dtype());
  return convert(where((i < 0.0) | (i >= size), size, i), IndexDType(range.size));
}

namespace {

Value Zeros(Builder& b, DType dtype, const Dims& dims) {
  return shlo::constant(b, int64_t{0}, {dtype, dims});
}

// 0..rank-1 without `dim`.
Dims Others(int64_t rank, int64_t dim) {
  Dims dims;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != dim) dims.push_back(d);
  }
  return dims;
}

// x[0:n0, 0:n1, ...] with the sizes of `like`, but for `dim`, which stays whole.
Value CropTo(Value x, const Dims& like, int64_t dim) {
  Dims limit = like;
  if (dim >= 0) limit[dim] = x.dim(dim);
  if (limit == x.dims()) return x;
  return slice(x, Dims(x.rank(), 0), limit, Dims(x.rank(), 1));
}

}  // namespace

Value TakeDim(Value x, int64_t dim, Value index) {
  Dims result = x.dims();
  result.erase(result.begin() + dim);
  result.insert(result.begin() + dim, index.dims().begin(), index.dims().end());
  if (NumElements(result) == 0) return Zeros(x.builder(), x.dtype(), result);
  shlo::GatherDims dims;
  for (int64_t d = 0; d < static_cast<int64_t>(result.size()); ++d) {
    if (d < dim || d >= dim + index.rank()) dims.offset_dims.push_back(d);
  }
  dims.collapsed_slice_dims = {dim};
  dims.start_index_map = {dim};
  dims.index_vector_dim = index.rank();
  Dims sizes = x.dims();
  sizes[dim] = 1;
  return gather(x, index, dims, sizes);
}

Value ScatterDim(Value x, int64_t dim, Value index, Value updates, const shlo::Combine& combine) {
  if (NumElements(updates.dims()) == 0 || NumElements(x.dims()) == 0) return x;
  shlo::ScatterDims dims;
  dims.update_window_dims = Others(x.rank(), dim);
  dims.inserted_window_dims = {dim};
  dims.scatter_dims_to_operand_dims = {dim};
  dims.index_vector_dim = index.rank();
  return scatter(x, index, updates, dims, combine);
}

Value GatherAlong(Value x, int64_t dim, Value index) {
  if (NumElements(index.dims()) == 0) return Zeros(x.builder(), x.dtype(), index.dims());
  x = CropTo(x, index.dims(), dim);
  shlo::GatherDims dims;
  dims.collapsed_slice_dims = {dim};
  dims.operand_batching_dims = Others(x.rank(), dim);
  dims.start_indices_batching_dims = dims.operand_batching_dims;
  dims.start_index_map = {dim};
  dims.index_vector_dim = index.rank();
  return gather(x, index, dims, Dims(x.rank(), 1));
}

Value ScatterAlong(Value x, int64_t dim, Value index, Value updates, const shlo::Combine& combine) {
  if (NumElements(index.dims()) == 0 || NumElements(x.dims()) == 0) return x;
  Value part = CropTo(x, index.dims(), dim);
  shlo::ScatterDims dims;
  dims.inserted_window_dims = {dim};
  dims.input_batching_dims = Others(x.rank(), dim);
  dims.scatter_indices_batching_dims = dims.input_batching_dims;
  dims.scatter_dims_to_operand_dims = {dim};
  dims.index_vector_dim = index.rank();
  part = scatter(part, index, CropTo(updates, index.dims(), -1), dims, combine);
  if (part.dims() == x.dims()) return part;
  const Value zero = shlo::scalar(x.builder(), int64_t{0}, DType::kS32);
  return dynamic_update_slice(x, part, std::vector<Value>(x.rank(), zero));
}

namespace {

enum class Reduction { kSum, kProd, kMean, kMax, kMin };

Reduction ReductionOf(const std::string& name) {
  if (name == "sum" || name == "add") return Reduction::kSum;
  if (name == "prod" || name == "multiply") return Reduction::kProd;
  if (name == "mean") return Reduction::kMean;
  if (name == "amax") return Reduction::kMax;
  if (name == "amin") return Reduction::kMin;
  throw shlo::BuildError("unknown reduction '" + name + "'; use sum, prod, mean, amax or amin");
}

Value Combined(Reduction reduction, Value old, Value update) {
  switch (reduction) {
    case Reduction::kProd:
      return old * update;
    case Reduction::kMax:
      return max(old, update);
    case Reduction::kMin:
      return min(old, update);
    default:
      return old + update;
  }
}

Value Identity(Builder& b, Reduction reduction, DType dtype) {
  switch (reduction) {
    case Reduction::kProd:
      return shlo::scalar(b, int64_t{1}, dtype);
    case Reduction::kMax:
      return shlo::min_value(b, dtype);
    case Reduction::kMin:
      return shlo::max_value(b, dtype);
    default:
      return shlo::scalar(b, int64_t{0}, dtype);
  }
}

// x / n for positive n; integers round down.
Value DivideDown(Value x, Value n) {
  Value quotient = x / n;
  if (!IsSigned(x.dtype())) return quotient;
  return where(x - quotient * n < 0.0, quotient - 1.0, quotient);
}

}  // namespace

Value ReduceInto(Value self, Value updates, const std::string& reduce, bool include_self,
                 const ScatterInto& scatter) {
  const Reduction reduction = ReductionOf(reduce);
  Value x = opmath(self);
  Builder& b = x.builder();
  if (!include_self) {
    Value untouched = Zeros(b, DType::kPred, x.dims());
    Value touched =
        scatter(untouched, shlo::constant(b, 1, {DType::kPred, updates.dims()}), Replace);
    x = where(touched, Identity(b, reduction, x.dtype()), x);
  }
  Value result = scatter(x, convert(updates, x.dtype()),
                         [&](Value old, Value update) { return Combined(reduction, old, update); });
  if (reduction != Reduction::kMean) return result;
  Value ones = shlo::constant(b, 1, {x.dtype(), updates.dims()});
  Value count = scatter(full_like(x, include_self ? 1 : 0), ones, Add);
  return DivideDown(result, max(count, full_like(count, 1)));
}

namespace {

// The dims of x that are indexed, ascending. A list shorter than the rank leaves the last dims
// alone.
Dims IndexedDims(const std::vector<std::optional<Value>>& indices) {
  Dims dims;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d]) dims.push_back(static_cast<int64_t>(d));
  }
  return dims;
}

}  // namespace

AdvancedIndex MakeAdvancedIndex(Call& c, Value x, const std::vector<std::optional<Value>>& indices,
                                Access access) {
  AdvancedIndex result;
  result.dims = IndexedDims(indices);
  if (result.dims.empty()) throw shlo::BuildError(c.name() + ": no index tensor given");
  std::vector<Dims> shapes;
  int64_t largest = 0;
  for (int64_t d : result.dims) {
    shapes.push_back(indices[d]->dims());
    largest = std::max(largest, x.dim(d));
  }
  const Dims batch = shlo::broadcast_dims(shapes);
  std::vector<Value> columns;
  for (int64_t d : result.dims) {
    const IndexRange range = BoundsOf(d, x.dim(d), /*wraps=*/true);
    Value i = access == Access::kGather ? GatherIndex(c, *indices[d], range)
                                        : ScatterIndex(c, *indices[d], range);
    i = convert(i, IndexDType(largest));
    columns.push_back(unsqueeze(broadcast_to(i, batch), -1));
  }
  result.starts =
      columns.size() == 1 ? columns[0] : concatenate(columns, static_cast<int64_t>(batch.size()));

  // Index tensors on neighbouring dims leave their dims in place, others put them first.
  const int64_t n = static_cast<int64_t>(result.dims.size());
  const bool adjacent = result.dims.back() - result.dims.front() + 1 == n;
  const int64_t first = adjacent ? result.dims.front() : 0;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (!std::count(result.dims.begin(), result.dims.end(), d)) {
      result.result_dims.push_back(x.dim(d));
    }
  }
  result.result_dims.insert(result.result_dims.begin() + first, batch.begin(), batch.end());
  const int64_t batch_end = first + static_cast<int64_t>(batch.size());
  for (int64_t d = 0; d < static_cast<int64_t>(result.result_dims.size()); ++d) {
    if (d < first || d >= batch_end) result.window_dims.push_back(d);
  }
  return result;
}

}  // namespace torch_tpu::ops
