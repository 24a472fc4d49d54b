// Reductions of consecutive segments of one dim, and the gradient.
//
// Every position along the dim finds the number of its segment by binary search in the segments'
// offsets; values are then scattered into segments, and segments' results gathered back.
#include <limits>

#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/scan_util.h"
#include "ops/sort_util.h"

namespace torch_tpu::ops {
namespace {

enum class Kind { kSum, kMean, kMax, kMin, kProd };

Kind KindOf(const std::string& name) {
  if (name == "sum") return Kind::kSum;
  if (name == "mean") return Kind::kMean;
  if (name == "max") return Kind::kMax;
  if (name == "min") return Kind::kMin;
  if (name == "prod") return Kind::kProd;
  throw shlo::BuildError("segment_reduce: unknown reduction '" + name +
                         "'; use sum, mean, max, min or prod");
}

// Data is [rows, length, inner]; segments are [rows, count].
struct Segments {
  int64_t rows, length, inner, count;
  Value number;  // [rows, length]: the segment of each position, out of range for none
  Value sizes;   // [rows, count]
};

// Arguments `lengths` and `offsets` and the axis of `data`; one of the two is given.
Segments ReadSegments(Call& c, Value data, int lengths, int offsets, int64_t axis) {
  const bool by_length = c.has(lengths);
  if (!by_length && !c.has(offsets)) {
    throw shlo::BuildError("segment_reduce: expected lengths or offsets");
  }
  Value given = c.tensor(by_length ? lengths : offsets);
  axis = shlo::wrap_dim(axis, data.rank());
  Segments s;
  s.rows = NumElements(Dims(data.dims().begin(), data.dims().begin() + axis));
  s.length = data.dim(axis);
  s.inner = NumElements(Dims(data.dims().begin() + axis + 1, data.dims().end()));
  s.count = given.dim(-1) - (by_length ? 0 : 1);
  given = reshape(convert(given, DType::kS64), {s.rows, given.dim(-1)});
  Value ends = given;  // [rows, count + 1]
  s.sizes = given;
  if (by_length) {
    const Value parts[] = {shlo::constant(c.builder(), 0, {DType::kS64, {s.rows, 1}}),
                           s.count > 0 ? CumSum(given, 1) : given};
    ends = concatenate(parts, 1);
  } else {
    s.sizes = slice_dim(given, 1, 1, s.count + 1) - slice_dim(given, 1, 0, s.count);
  }
  c.check(shlo::reduce_all(s.sizes >= 0.0, {0, 1}), "segment_reduce: lengths must be positive");
  Value position = iota(c.builder(), 1, {DType::kS64, {s.rows, s.length}});
  s.number = BinarySearch(ends, position, [](Value e, Value v) { return e <= v; }) - 1.0;
  return s;
}

// values[rows, length, inner] combined by segment into init[rows, count, inner].
Value Gathered(const Segments& s, Value init, Value values, const shlo::Combine& combine) {
  if (NumElements(values.dims()) == 0 || NumElements(init.dims()) == 0) return init;
  shlo::ScatterDims dims;
  dims.update_window_dims = {2};
  dims.inserted_window_dims = {1};
  dims.input_batching_dims = {0};
  dims.scatter_indices_batching_dims = {0};
  dims.scatter_dims_to_operand_dims = {1};
  dims.index_vector_dim = 2;
  return scatter(init, unsqueeze(s.number, -1), values, dims, combine);
}

// The segment's row of v[rows, count, inner] at every position; 0 where there is no segment.
Value AtPositions(const Segments& s, Value v) {
  const Dims dims = {s.rows, s.length, s.inner};
  if (NumElements(v.dims()) == 0) return shlo::constant(v.builder(), 0, {v.dtype(), dims});
  shlo::GatherDims gather_dims;
  gather_dims.offset_dims = {2};
  gather_dims.collapsed_slice_dims = {1};
  gather_dims.operand_batching_dims = {0};
  gather_dims.start_indices_batching_dims = {0};
  gather_dims.start_index_map = {1};
  gather_dims.index_vector_dim = 2;
  Value found = gather(v, unsqueeze(s.number, -1), gather_dims, {1, 1, s.inner});
  Value inside = (s.number >= 0.0) & (s.number < static_cast<double>(s.count));
  return where(broadcast_in_dim(inside, dims, {0, 1}), found, 0.0);
}

double Identity(Kind kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (kind == Kind::kMax) return -kInfinity;
  if (kind == Kind::kMin) return kInfinity;
  return kind == Kind::kProd ? 1 : 0;
}

Value Combined(Kind kind, Value a, Value b) {
  if (kind == Kind::kMax) return max(a, b);
  if (kind == Kind::kMin) return min(a, b);
  return kind == Kind::kProd ? a * b : a + b;
}

// data, reduce, lengths, indices, offsets, axis, unsafe, initial
Value SegmentReduce(Call& c) {
  const Kind kind = KindOf(c.string(1));
  Value x = shlo::opmath(c.tensor(0));
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  const Segments s = ReadSegments(c, x, 2, 4, c.integer(5));
  Value init = shlo::constant(c.builder(), Identity(kind), {x.dtype(), {s.rows, s.count, s.inner}});
  if (c.has(7)) init = shlo::broadcast_to(convert(c.number(7), x.dtype()), init.dims());
  Value y = Gathered(s, init, reshape(x, {s.rows, s.length, s.inner}),
                     [&](Value a, Value b) { return Combined(kind, a, b); });
  if (kind == Kind::kMean) {
    Value sizes = broadcast_in_dim(convert(s.sizes, x.dtype()), y.dims(), {0, 1});
    Value empty = c.has(7) ? y : full_like(y, std::numeric_limits<double>::quiet_NaN());
    y = where(sizes > 0.0, y / sizes, empty);
  }
  return reshape(y, c.out().dims);
}

// What an element's segment multiplies without the element: NaN if another one is NaN, 0 if another
// one is 0.
Value ExclusiveProduct(const Segments& s, Value x, Value initial) {
  Value zero = x == 0.0, nan = is_nan(x);
  Value segment = shlo::constant(x.builder(), 0, {x.dtype(), {s.rows, s.count, s.inner}});
  const auto others = [&](Value flag) {
    Value number = convert(flag, x.dtype());
    return AtPositions(s, Gathered(s, segment, number, Add)) - number;
  };
  Value product =
      AtPositions(s, Gathered(s, full_like(segment, 1), where(zero | nan, 1.0, x), Multiply));
  product = where(others(zero) > 0.0, 0.0, where(zero | nan, product, product / x));
  product = where(others(nan) > 0.0, std::numeric_limits<double>::quiet_NaN(), product);
  return product * shlo::broadcast_to(initial, product.dims());
}

// grad, output, data, reduce, lengths, offsets, axis, initial
Value SegmentReduceBackward(Call& c) {
  const Kind kind = KindOf(c.string(3));
  Value x = shlo::opmath(c.tensor(2));
  if (NumElements(x.dims()) == 0) return constant(c.builder(), 0, c.out());
  const Segments s = ReadSegments(c, x, 4, 5, c.integer(6));
  const Dims by_segment = {s.rows, s.count, s.inner};
  x = reshape(x, {s.rows, s.length, s.inner});
  Value segment_grad = reshape(shlo::opmath(c.tensor(0)), by_segment);
  if (kind == Kind::kMean) {
    Value sizes = broadcast_in_dim(convert(s.sizes, x.dtype()), by_segment, {0, 1});
    segment_grad = where(sizes > 0.0, segment_grad / sizes, 0.0);
  }
  Value grad = AtPositions(s, segment_grad);
  if (kind == Kind::kMax || kind == Kind::kMin) {
    Value best = AtPositions(s, reshape(shlo::opmath(c.tensor(1)), by_segment));
    Value hit = is_nan(x) | (x == best);
    Value zeros = shlo::constant(c.builder(), 0, {x.dtype(), by_segment});
    Value hits = AtPositions(s, Gathered(s, zeros, convert(hit, x.dtype()), Add));
    // Equal elements share a gradient, but only a positive one: PyTorch's rule.
    grad = where(hit, where((grad > 0.0) & (hits > 1.0), grad / hits, grad), 0.0);
  } else if (kind == Kind::kProd) {
    Value one = shlo::scalar(c.builder(), 1.0, x.dtype());
    grad = grad * ExclusiveProduct(s, x, c.has(7) ? convert(c.number(7), x.dtype()) : one);
  }
  return reshape(grad, c.out().dims);
}

LOWER("aten::segment_reduce", SegmentReduce);
LOWER("aten::_segment_reduce_backward", SegmentReduceBackward);

}  // namespace
}  // namespace torch_tpu::ops
