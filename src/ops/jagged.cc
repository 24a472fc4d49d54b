// Rows of unequal length, stored one after the other (jagged), and the same padded to one length;
// and row numbers as offsets (the index part of compressed sparse rows).
#include "ops/index_util.h"
#include "ops/sort_util.h"

namespace torch_tpu::ops {
namespace {

// _jagged_to_padded_dense_forward(values[total, ...], offsets[], max_lengths, padding_value)
Value JaggedToPadded(Call& c) {
  const Dims& dims = c.out().dims;
  if (NumElements(dims) == 0) return constant(c.builder(), 0, c.out());
  Value values = c.tensor(0), padding = convert(c.number(3), values.dtype());
  const int64_t rows = dims[0], length = dims[1];
  if (NumElements(values.dims()) == 0) return shlo::broadcast_to(padding, dims);
  Value offsets = convert(c.tensors(1)[0], DType::kS64);
  const Dims grid = {rows, length};
  const auto by_row = [&](Value v) { return broadcast_in_dim(v, grid, {0}); };
  Value index =
      by_row(slice_dim(offsets, 0, 0, rows)) + iota(c.builder(), 1, TensorType{DType::kS64, grid});
  Value valid = index < by_row(slice_dim(offsets, 0, 1, rows + 1));
  return where(broadcast_in_dim(valid, dims, {0, 1}), TakeDim(values, 0, index), padding);
}

// _padded_dense_to_jagged_forward(dense[rows, length, ...], offsets[], total_L)
Value PaddedToJagged(Call& c) {
  const Dims& dims = c.out().dims;
  Value dense = c.tensor(0);
  if (NumElements(dims) == 0 || NumElements(dense.dims()) == 0)
    return constant(c.builder(), 0, c.out());
  const int64_t rows = dense.dim(0), length = dense.dim(1);
  Value offsets = convert(c.tensors(1)[0], DType::kS64);
  Value position = iota(c.builder(), 0, {DType::kS64, {dims[0]}});
  Value row = convert(BinarySearch(offsets, position, [](Value e, Value v) { return e <= v; }),
                      DType::kS64) -
              1.0;
  Value column = position - TakeDim(offsets, 0, row);
  Dims flat = dense.dims();
  flat.erase(flat.begin());
  flat[0] = rows * length;
  Value found = TakeDim(reshape(dense, flat), 0, row * static_cast<double>(length) + column);
  // A row may be longer than what the padded tensor holds of it.
  return where(broadcast_in_dim(column < static_cast<double>(length), dims, {0}), found, 0.0);
}

std::vector<TensorType> PaddedToJaggedShape(const Call& c) {
  if (!c.has(2) || c.tensors(1).size() != 1 || c.tensor(0).rank() < 2)
    throw shlo::BuildError(c.name() + ": expected total_L and one tensor of offsets");
  Dims dims = c.tensor(0).dims();
  dims.erase(dims.begin());
  dims[0] = c.integer(2);
  return {{c.tensor(0).dtype(), dims}};
}

LOWER("aten::_jagged_to_padded_dense_forward", JaggedToPadded);
LOWER("aten::_padded_dense_to_jagged_forward", PaddedToJagged, {.shape = PaddedToJaggedShape});

// _convert_indices_from_coo_to_csr(self, size, out_int32): how many of the sorted row numbers are
// below 0, 1, ..., size.
Value CooToCsr(Call& c) {
  Value rows = convert(c.tensor(0), DType::kS64);
  Value limits = iota(c.builder(), 0, {DType::kS64, c.out().dims});
  if (rows.dim(0) == 0) return constant(c.builder(), 0, c.out());
  return BinarySearch(rows, limits, [](Value e, Value v) { return e < v; });
}

// _convert_indices_from_csr_to_coo(crow_indices, col_indices, out_int32, transpose): [2, n], with
// a row of batch numbers before for each batch dim.
Value CsrToCoo(Call& c) {
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  Value offsets = convert(c.tensor(0), DType::kS64), columns = convert(c.tensor(1), DType::kS64);
  Value position = index_like(columns, columns.rank() - 1);
  Value rows = convert(BinarySearch(offsets, position, [](Value e, Value v) { return e <= v; }),
                       DType::kS64) -
               1.0;
  std::vector<Value> parts;
  for (int64_t d = 0; d + 1 < columns.rank(); ++d) parts.push_back(index_like(columns, d));
  parts.push_back(c.boolean(3) ? columns : rows);
  parts.push_back(c.boolean(3) ? rows : columns);
  for (Value& part : parts) part = reshape(part, {1, NumElements(columns.dims())});
  return concatenate(parts, 0);
}

LOWER("aten::_convert_indices_from_coo_to_csr", CooToCsr);
LOWER("aten::_convert_indices_from_csr_to_coo", CsrToCoo);

}  // namespace
}  // namespace torch_tpu::ops
