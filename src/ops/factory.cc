// Tensors made from numbers: fills, ranges, the identity and triangle indices.
#include <algorithm>

#include "ops/pointwise.h"

namespace torch_tpu::ops {
namespace {

using shlo::broadcast_to;

// --- fills
// -----------------------------------------------------------------------------------------

Value Fill(Call& c) { return broadcast_to(convert(c.tensor(1), c.out().dtype), c.out().dims); }
Value Zero(Call& c) { return constant(c.builder(), 0, c.out()); }

LOWER("aten::fill", Fill);
LOWER("aten::fill_", Fill);
LOWER("aten::zero", Zero);
LOWER("aten::zero_", Zero);

// --- ranges
// ----------------------------------------------------------------------------------------

// The index along the only dim of the result.
Value Position(const Call& c, DType dtype) { return iota(c.builder(), 0, {dtype, c.out().dims}); }

bool IsNumber(const Call& c, int i) {
  return i < c.size() && std::holds_alternative<Number>(c.args[i].v);
}

// arange(end), (start, end) and (start, end, step). Like the CPU, in int64 or float64 and rounded
// once at the end.
Value Arange(Call& c) {
  int numbers = 0;
  DType dtype = DType::kS64;
  while (numbers < 3 && IsNumber(c, numbers)) {
    DType number = c.number(numbers++).dtype();
    if (IsFloat(number) && IsFloat(c.out().dtype)) dtype = number;
  }
  Value value = Position(c, dtype);
  if (numbers == 3) value = value * convert(c.number(2), dtype);
  return numbers == 1 ? value : value + convert(c.number(0), dtype);
}

LOWER("aten::arange", Arange);
LOWER("aten::range", Arange);  // range(start, end, step): as long as its end is included

// The dtype that steps of linspace and logspace are computed in: float64 for integers, for they
// must not round up.
DType StepDType(const Call& c) {
  DType dtype = shlo::opmath_dtype(c.out().dtype);
  return IsInteger(dtype) ? DType::kF64 : dtype;
}

// (start, end, steps): counted from the nearer end, so that both ends are exact.
Value Linspace(const Call& c, DType dtype) {
  int64_t steps = c.integer(2);
  auto bound = [&](int i) {
    Value v = IsInteger(c.out().dtype) ? convert(c.tensor(i), c.out().dtype) : c.tensor(i);
    return convert(v, dtype);
  };
  Value start = bound(0), end = bound(1);
  if (steps <= 1) return broadcast_to(start, c.out().dims);
  Value step = (end - start) / static_cast<double>(steps - 1);
  Value index = Position(c, DType::kS64);
  Value from_start = convert(index, dtype) * step + start;
  Value from_end = end - convert(static_cast<double>(steps - 1) - index, dtype) * step;
  const int64_t half = steps / 2;
  return where(index < static_cast<double>(half), from_start, from_end);
}

Value LinspaceRange(Call& c) { return Linspace(c, StepDType(c)); }

Value Logspace(Call& c) {  // logspace(start, end, steps, base)
  Value exponent = Linspace(c, StepDType(c));
  return power(broadcast_to(convert(c.number(3), exponent.dtype()), exponent.dims()), exponent);
}

LOWER("aten::linspace", LinspaceRange);
LOWER("aten::logspace", Logspace);

// --- matrices and their indices
// ------------------------------------------------------------------------

Value Eye(Call& c) {
  TensorType type{DType::kS64, c.out().dims};
  return iota(c.builder(), 0, type) == iota(c.builder(), 1, type);
}

LOWER("aten::eye", Eye);

struct Coordinates {
  Value row, column;
};

// Coordinates of element number k of the part of a [rows, columns] matrix where column <= row +
// offset, row by row. The part is a triangle cut at its top, then full rows.
Coordinates LowerTriangle(Value k, int64_t rows, int64_t columns, int64_t offset) {
  int64_t first_row = std::max<int64_t>(0, -offset);
  int64_t first_length = std::min(columns, first_row + offset + 1);
  int64_t cut_rows = std::max<int64_t>(0, std::min(rows - first_row, columns - first_length));
  auto before = [&](auto t) { return t * static_cast<double>(first_length) + t * (t - 1.0) * 0.5; };
  double cut_size = before(static_cast<double>(cut_rows));

  // t rows lie before element k where before(t) <= k. The root is corrected by one for rounding.
  double b = 2.0 * static_cast<double>(first_length) - 1.0;
  Value x = convert(k, DType::kF64);
  Value t = floor((sqrt(x * 8.0 + b * b) - b) * 0.5);
  t = where(before(t) > x, t - 1.0, t);
  t = where(before(t + 1.0) <= x, t + 1.0, t);

  Value rest = x - cut_size;
  Value full_row = floor(rest / static_cast<double>(columns));
  Value in_cut = x < cut_size;
  Value row = where(in_cut, t, full_row + static_cast<double>(cut_rows));
  Value column = where(in_cut, x - before(t), rest - full_row * static_cast<double>(columns));
  return {row + static_cast<double>(first_row), column};
}

Value Stacked(Value row, Value column) {
  Value parts[] = {unsqueeze(row, 0), unsqueeze(column, 0)};
  return concatenate(parts, 0);
}

Value ElementNumbers(const Call& c) {
  return iota(c.builder(), 0, {DType::kS64, {c.out().dims[1]}});
}

Value TrilIndices(Call& c) {  // tril_indices(row, col, offset)
  if (c.out().dims[1] == 0) return Zero(c);
  auto [row, column] = LowerTriangle(ElementNumbers(c), c.integer(0), c.integer(1), c.integer(2));
  return Stacked(row, column);
}

// The upper part turned by half a circle is a lower part, read from its end.
Value TriuIndices(Call& c) {  // triu_indices(row, col, offset)
  int64_t rows = c.integer(0), columns = c.integer(1), size = c.out().dims[1];
  if (size == 0) return Zero(c);
  Value k = static_cast<double>(size - 1) - ElementNumbers(c);
  auto [row, column] = LowerTriangle(k, rows, columns, columns - rows - c.integer(2));
  return Stacked(static_cast<double>(rows - 1) - row, static_cast<double>(columns - 1) - column);
}

LOWER("aten::tril_indices", TrilIndices);
LOWER("aten::triu_indices", TriuIndices);

}  // namespace
}  // namespace torch_tpu::ops
