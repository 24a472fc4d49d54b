// Gaussian elimination as a loop, and triangular solves with its factors.
#include "ops/linalg_lu.h"

#include <algorithm>

namespace torch_tpu::ops {

Dims BatchDims(const Dims& dims, int64_t matrix_rank) {
  return Dims(dims.begin(), dims.end() - matrix_rank);
}

Value MergeBatch(Value a, int64_t matrix_rank) {
  Dims dims(a.dims().end() - matrix_rank, a.dims().end());
  dims.insert(dims.begin(), NumElements(BatchDims(a.dims(), matrix_rank)));
  return shlo::reshape(a, dims);
}

Value SplitBatch(Value a, const Dims& batch) {
  Dims dims = batch;
  dims.insert(dims.end(), a.dims().begin() + 1, a.dims().end());
  return shlo::reshape(a, dims);
}

Value Conjugate(Value x) {
  return IsComplex(x.dtype()) ? shlo::complex(shlo::real(x), -shlo::imag(x)) : x;
}

Value Adjoint(Value a) { return Conjugate(shlo::swap_dims(a, -2, -1)); }

Value FullProduct(Value lhs, Value rhs) {
  return shlo::dot_general(lhs, rhs, {{0}, {0}, {2}, {1}}, shlo::Precision::kHighest);
}

Value SliceAt(Value a, int64_t dim, Value k) {
  Value zero = shlo::scalar(a.builder(), int64_t{0}, DType::kS32);
  std::vector<Value> starts(3, zero);
  starts[static_cast<size_t>(dim)] = k;
  Dims sizes = a.dims();
  sizes[static_cast<size_t>(dim)] = 1;
  return shlo::dynamic_slice(a, starts, sizes);
}

Value IdentityLike(Value square) {
  Value row = shlo::index_like(square, square.rank() - 2, DType::kS32);
  Value column = shlo::index_like(square, square.rank() - 1, DType::kS32);
  return shlo::convert(row == column, square.dtype());
}

Value Triangle(Value a, bool lower, int64_t offset) {
  Value row = shlo::index_like(a, a.rank() - 2, DType::kS32) + static_cast<double>(offset);
  Value column = shlo::index_like(a, a.rank() - 1, DType::kS32);
  return shlo::where(lower ? column <= row : column >= row, a, 0.0);
}

namespace {

Value Spread(Value v, const Dims& dims) { return shlo::broadcast_to(v, dims); }

// LAPACK measures complex pivots by |re| + |im|.
Value PivotSize(Value x) {
  if (!IsComplex(x.dtype())) return shlo::abs(x);
  return shlo::abs(shlo::real(x)) + shlo::abs(shlo::imag(x));
}

// The row number [b, 1, 1] of the largest element of column[b, m, 1] from row k on; the first of
// equal ones.
Value PivotRow(Value column, Value rows, Value k) {
  Value size = shlo::where(rows < k, -1.0, PivotSize(column));
  Value largest = Spread(shlo::reduce_max(size, {1}, true), size.dims());
  Value none = shlo::max_value(rows.builder(), DType::kS32);
  Value row = shlo::reduce_min(shlo::where(size == largest, rows, none), {1}, true);
  return shlo::where(row == none, k, row);  // NaN equals nothing
}

// Exchanges rows k and p[b, 1, 1] of a[b, m, n].
Value SwapRows(Value a, Value k, Value p) {
  Value rows = shlo::index_like(a, 1, DType::kS32);
  Value at_p = rows == Spread(p, a.dims());
  Value row_k = Spread(SliceAt(a, 1, k), a.dims());
  Value row_p = Spread(shlo::reduce_sum(shlo::where(at_p, a, 0.0), {1}, true), a.dims());
  return shlo::where(rows == k, row_p, shlo::where(at_p, row_k, a));
}

// Subtracts multiples of row k from the rows below and leaves the multipliers in column k.
Value Eliminate(Value a, Value k, Value pivot) {
  Value rows = shlo::index_like(a, 1, DType::kS32), columns = shlo::index_like(a, 2, DType::kS32);
  Value divisor = shlo::where(pivot == 0.0, 1.0, pivot);
  Value column = SliceAt(a, 2, k);
  Value multiplier = Spread(column / Spread(divisor, column.dims()), a.dims());
  Value reduced = a - multiplier * Spread(SliceAt(a, 1, k), a.dims());
  Value below = rows > k;
  a = shlo::where(below & (columns > k), reduced, a);
  return shlo::where(below & (columns == k), multiplier, a);
}

}  // namespace

LuFactors FactorLu(Value a, bool pivot) {
  Builder& b = a.builder();
  const int64_t batch = a.dim(0), m = a.dim(1), count = std::min(m, a.dim(2));
  const auto zero = [&] { return shlo::scalar(b, int64_t{0}, DType::kS32); };
  Value pivots = shlo::constant(b, 0, {DType::kS32, {batch, count}});
  Value order = shlo::iota(b, 1, {DType::kS32, {batch, m, 1}});
  Value info = shlo::constant(b, 0, {DType::kS32, {batch}});
  if (batch == 0 || count == 0) return {a, pivots, shlo::reshape(order, {batch, m}), info};
  const Value init[] = {zero(), a, pivots, order, info};
  auto result = shlo::while_(
      init, [&](std::span<const Value> s) { return s[0] < static_cast<double>(count); },
      [&](std::span<const Value> s) {
        Value k = s[0], lu = s[1], order = s[3], info = s[4];
        Value rows = shlo::index_like(order, 1, DType::kS32);
        Value p = Spread(shlo::reshape(k, {1, 1, 1}), {batch, 1, 1});
        if (pivot) {
          p = PivotRow(SliceAt(lu, 2, k), rows, k);
          lu = SwapRows(lu, k, p);
          order = SwapRows(order, k, p);
        }
        Value diagonal = SliceAt(SliceAt(lu, 1, k), 2, k);
        Value next = k + 1.0;
        Value pivots = shlo::dynamic_update_slice(s[2], shlo::reshape(p + 1.0, {batch, 1}),
                                                  std::vector<Value>{zero(), k});
        Value singular = shlo::reshape(diagonal == 0.0, {batch}) & (info == 0.0);
        return std::vector<Value>{next, Eliminate(lu, k, diagonal), pivots, order,
                                  shlo::where(singular, next, info)};
      });
  return {result[1], result[2], shlo::reshape(result[3], {batch, m}), result[4]};
}

Value PermutationOf(Value pivots, int64_t m) {
  Builder& b = pivots.builder();
  const int64_t batch = pivots.dim(0), count = pivots.dim(1);
  Value order = shlo::iota(b, 1, {DType::kS32, {batch, m, 1}});
  if (batch == 0 || count == 0 || m == 0) return shlo::reshape(order, {batch, m});
  Value column = shlo::reshape(shlo::convert(pivots, DType::kS32) - 1.0, {batch, count, 1});
  const Value init[] = {shlo::scalar(b, int64_t{0}, DType::kS32), order};
  auto result = shlo::while_(
      init, [&](std::span<const Value> s) { return s[0] < static_cast<double>(count); },
      [&](std::span<const Value> s) {
        return std::vector<Value>{s[0] + 1.0, SwapRows(s[1], s[0], SliceAt(column, 1, s[0]))};
      });
  return shlo::reshape(result[1], {batch, m});
}

Value PermuteRows(Value a, Value rows, bool inverse) {
  if (inverse) {
    Value place = shlo::index_like(rows, 1, DType::kS32);
    const Value both[] = {rows, place};
    rows = shlo::sort(both, 1, [](std::span<const Value> v) { return v[0] < v[1]; })[1];
  }
  shlo::GatherDims gather;
  gather.offset_dims = {2};
  gather.collapsed_slice_dims = {1};
  gather.operand_batching_dims = {0};
  gather.start_indices_batching_dims = {0};
  gather.start_index_map = {1};
  gather.index_vector_dim = 2;
  return shlo::gather(a, shlo::reshape(rows, {rows.dim(0), rows.dim(1), 1}), gather,
                      {1, 1, a.dim(2)});
}

Value SolveLu(Value lu, Value permutation, Value rhs, bool adjoint) {
  if (NumElements(rhs.dims()) == 0) return rhs;
  if (adjoint) {  // U^H L^H P^T x = rhs
    Value y = shlo::triangular_solve(lu, rhs, true, false, false, true, true);
    y = shlo::triangular_solve(lu, y, true, true, true, true, true);
    return PermuteRows(y, permutation, true);
  }
  Value y = PermuteRows(rhs, permutation, false);
  y = shlo::triangular_solve(lu, y, true, true, true, false);
  return shlo::triangular_solve(lu, y, true, false, false, false);
}

}  // namespace torch_tpu::ops
