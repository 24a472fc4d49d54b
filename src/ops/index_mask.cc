// Compaction by a mask: nonzero, masked_select, masked_scatter.
//
// How many elements a mask selects is known only when the program has run. nonzero and
// masked_select therefore return their result padded to the largest size it can have, and the
// number of valid rows (int64, rank 0) after it; what lies behind the valid rows is unspecified.
#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/scan_util.h"

namespace torch_tpu::ops {
namespace {

struct Selection {
  Value position;  // [n]: the element's rank among the selected ones; -1, which scatters drop,
                   // elsewhere
  Value count;     // rank 0, of the dtype of position
};

// `mask` is i1 of rank 1.
Selection Select(Value mask) {
  Value ones = convert(mask, IndexDType(mask.dim(0)));
  return {where(mask, CumSum(ones, 0) - 1.0, -1.0), reduce_sum(ones, {0})};
}

Value Flat(Value x) { return reshape(x, {NumElements(x.dims())}); }

// The row-major coordinates of every element of `like`, [elements, rank].
Value Coordinates(Value like, DType dtype) {
  const int64_t n = NumElements(like.dims());
  if (like.rank() == 0) return constant(like.builder(), 0, {dtype, {n, 0}});
  std::vector<Value> columns;
  for (int64_t d = 0; d < like.rank(); ++d) {
    columns.push_back(reshape(index_like(like, d, dtype), {n, 1}));
  }
  return concatenate(columns, 1);
}

// [rows, rank]: coordinates of the elements of x that are not zero, `fill` behind them; and their
// number.
Results Nonzero(Value x, int64_t rows, Value fill) {
  const Selection selection = Select(Flat(AsBool(x)));
  Value into = broadcast_in_dim(fill, {rows, x.rank()}, {});
  Value found = ScatterDim(into, 0, selection.position, Coordinates(x, fill.dtype()), Replace);
  return {found, convert(selection.count, DType::kS64)};
}

// nonzero(self)
Results NonzeroPadded(Call& c) {
  Value x = c.tensor(0);
  return Nonzero(x, NumElements(x.dims()), shlo::scalar(c.builder(), int64_t{0}, DType::kS64));
}

std::vector<TensorType> NonzeroShape(const Call& c) {
  const Dims& dims = c.tensor(0).dims();
  const int64_t rank = static_cast<int64_t>(dims.size());
  return {{DType::kS64, {NumElements(dims), rank}}, {DType::kS64, {}}};
}

// nonzero_static(self, size, fill_value)
Value NonzeroStatic(Call& c) {
  Value fill = shlo::scalar(c.builder(), c.integer_or(2, -1), DType::kS64);
  return Nonzero(c.tensor(0), c.integer(1), fill)[0];
}

// self and mask broadcast against each other.
std::pair<Value, Value> Broadcast(Value x, Value mask) {
  const Dims shapes[] = {x.dims(), mask.dims()};
  const Dims dims = shlo::broadcast_dims(shapes);
  return {broadcast_to(x, dims), broadcast_to(AsBool(mask), dims)};
}

// masked_select(self, mask)
Results MaskedSelect(Call& c) {
  auto [x, mask] = Broadcast(c.tensor(0), c.tensor(1));
  const Selection selection = Select(Flat(mask));
  Value flat = Flat(x);
  return {ScatterDim(full_like(flat, 0), 0, selection.position, flat, Replace),
          convert(selection.count, DType::kS64)};
}

std::vector<TensorType> MaskedSelectShape(const Call& c) {
  const Dims shapes[] = {c.tensor(0).dims(), c.tensor(1).dims()};
  const int64_t n = NumElements(shlo::broadcast_dims(shapes));
  return {{c.tensor(0).dtype(), {n}}, {DType::kS64, {}}};
}

// masked_scatter(self, mask, source): the k-th selected element becomes the k-th of source.
Value MaskedScatter(Call& c) {
  if (c.tensor(1).dtype() != DType::kPred) {
    throw shlo::BuildError("masked_scatter: expected a mask of bool");
  }
  auto [x, mask] = Broadcast(c.tensor(0), c.tensor(1));
  Value source = Flat(c.tensor(2));
  if (source.dim(0) == 0) return x;
  Value running = CumSum(convert(Flat(mask), IndexDType(NumElements(x.dims()))), 0);
  if (c.debug()) {
    Value needed = reduce_sum(convert(Flat(mask), DType::kS64), {0});
    c.check(needed <= static_cast<double>(source.dim(0)),
            "masked_scatter: expected self and source to have same dtypes and at least as many "
            "elements in source "
            "as true values in mask");
  }
  Value placed = reshape(TakeDim(source, 0, running - 1.0), x.dims());
  return select(mask, convert(placed, x.dtype()), x);
}

// masked_scatter_backward(grad, mask, sizes): the gradient of source.
Value MaskedScatterBackward(Call& c) {
  auto [grad, mask] = Broadcast(c.tensor(0), c.tensor(1));
  const int64_t n = NumElements(c.ints(2));
  const Selection selection = Select(Flat(mask));
  Value zeros = constant(c.builder(), 0, {grad.dtype(), {n}});
  return ToOut(c, ScatterDim(zeros, 0, selection.position, Flat(grad), Replace));
}

LOWER("aten::nonzero", NonzeroPadded, {.shape = NonzeroShape});
LOWER("aten::nonzero_static", NonzeroStatic);
LOWER("aten::masked_select", MaskedSelect, {.shape = MaskedSelectShape});
LOWER("aten::masked_scatter", MaskedScatter);
LOWER("aten::masked_scatter_backward", MaskedScatterBackward);

}  // namespace
}  // namespace torch_tpu::ops
