// Searching in sorted sequences: searchsorted, bucketize, isin, repeat_interleave, histc.
#include <bit>

#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/scan_util.h"
#include "ops/sort_util.h"

namespace torch_tpu::ops {
namespace {

// sequence[row of v, i] for every element i of `index`.
Value Probe(Value sequence, Value index) {
  if (sequence.rank() == 1) return TakeDim(sequence, 0, index);
  return GatherAlong(sequence, sequence.rank() - 1, index);
}

}  // namespace

Value BinarySearch(Value sequence, Value values, const shlo::Combine& before) {
  Builder& b = values.builder();
  const int64_t n = sequence.dim(-1);
  const TensorType type = {IndexDType(n), values.dims()};
  if (n == 0 || NumElements(values.dims()) == 0) return constant(b, 0, type);
  const int64_t steps = std::bit_width(static_cast<uint64_t>(n));
  const Value init[] = {shlo::scalar(b, int64_t{0}, DType::kS32), constant(b, 0, type),
                        constant(b, n, type)};
  auto ends = while_(
      init, [&](std::span<const Value> v) { return v[0] < static_cast<double>(steps); },
      [&](std::span<const Value> v) -> Results {
        Value low = v[1], high = v[2];
        Value middle = low + (high - low) / 2.0;
        Value go_right = (low < high) & before(Probe(sequence, middle), values);
        return {v[0] + 1.0, where(go_right, middle + 1.0, low), where(go_right, high, middle)};
      });
  return ends[1];
}

namespace {

// PyTorch's own predicates, written so that NaN behaves as there.
Value Search(Value sequence, Value values, bool right) {
  return BinarySearch(sequence, values,
                      [&](Value e, Value v) { return right ? !(e > v) : !(e >= v); });
}

// searchsorted(sorted_sequence, self, out_int32, right, side?, sorter?)
Value SearchSorted(Call& c) {
  Value sequence = c.tensor(0);
  if (auto sorter = c.opt_tensor(5)) {
    const int64_t dim = sequence.rank() - 1;
    sequence = GatherAlong(
        sequence, dim, GatherIndex(c, *sorter, BoundsOf(dim, sequence.dim(dim), /*wraps=*/false)));
  }
  const bool right = c.boolean(3) || c.opt_string(4) == "right";
  return Search(convert(sequence, c.common_dtype()), convert(c.tensor(1), c.common_dtype()), right);
}

// bucketize(self, boundaries, out_int32, right)
Value Bucketize(Call& c) {
  return Search(convert(c.tensor(1), c.common_dtype()), convert(c.tensor(0), c.common_dtype()),
                c.boolean(3));
}

// isin(elements, test_elements, assume_unique, invert)
Value IsIn(Call& c) {
  Value x = convert(c.tensor(0), c.common_dtype()), test = convert(c.tensor(1), c.common_dtype());
  const int64_t n = NumElements(test.dims());
  const bool invert = c.boolean(3);
  if (n == 0) return constant(c.builder(), int{invert}, {DType::kPred, x.dims()});
  Value sorted = SortDim(reshape(test, {n}), 0, /*descending=*/false).values;
  Value at = BinarySearch(sorted, x, [](Value e, Value v) { return e < v; });
  // Past the end the last element is compared, which differs from x there.
  Value found = TakeDim(sorted, 0, min(at, full_like(at, static_cast<double>(n - 1)))) == x;
  return invert ? !found : found;
}

// repeat_interleave.Tensor(repeats, output_size): needs output_size, the sum of `repeats`.
Value RepeatInterleave(Call& c) {
  Value ends = CumSum(convert(c.tensor(0), DType::kS64), 0);
  Value position = iota(c.builder(), 0, {DType::kS64, c.out().dims});
  return Search(ends, position, /*right=*/true);
}

std::vector<TensorType> RepeatInterleaveShape(const Call& c) {
  if (!c.has(1)) {
    throw shlo::BuildError(
        c.name() +
        ": output_size is needed on this device, since the size of the result depends on the "
        "values of repeats; pass output_size=int(repeats.sum())");
  }
  return {{c.tensor(0).dtype(), {c.integer(1)}}};
}

// histc(self, bins, min, max)
Value Histc(Call& c) {
  const int64_t bins = c.integer(1), n = NumElements(c.tensor(0).dims());
  Value x = reshape(opmath(c.tensor(0)), {n});
  Value low = convert(c.number(2), x.dtype()), high = convert(c.number(3), x.dtype());
  if (n > 0) {
    Value from_data = low == high;
    Value smallest = reduce_min(x, {0}), largest = reduce_max(x, {0});
    low = select(from_data, smallest, low);
    high = select(from_data, largest, high);
  }
  Value flat = low == high;
  low = select(flat, low - 1.0, low);
  high = select(flat, high + 1.0, high);
  Value bin = floor((x - low) / (high - low) * static_cast<double>(bins));
  bin = min(bin, full_like(bin, static_cast<double>(bins - 1)));
  Value inside = (x >= low) & (x <= high);
  Value index = convert(where(inside, bin, -1.0), DType::kS32);
  Value zeros = constant(c.builder(), 0, {x.dtype(), {bins}});
  return ScatterDim(zeros, 0, index, full_like(x, 1), Add);
}

LOWER("aten::searchsorted", SearchSorted);
LOWER("aten::bucketize", Bucketize);
LOWER("aten::isin", IsIn);
LOWER("aten::repeat_interleave.Tensor", RepeatInterleave, {.shape = RepeatInterleaveShape});
LOWER("aten::histc", Histc);

}  // namespace
}  // namespace torch_tpu::ops
