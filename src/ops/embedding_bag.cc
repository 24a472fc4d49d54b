// embedding_bag: rows of a table summed, averaged or maximised over bags, and the gradients.
#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/sort_util.h"

namespace torch_tpu::ops {
namespace {

constexpr int64_t kSum = 0, kMean = 1, kMax = 2;

struct Bags {
  Value index;  // [n], row of the table, of IndexDType
  Value bag;    // [n], which bag an index belongs to; -1 (dropped by scatters) where it is padding
  Value all_bags;  // [n], the same with padding counted
  int64_t num_bags = 0;
};

constexpr char kOutOfRange[] = "embedding_bag: index out of range in weight";

Value IsPadding(Value index, int64_t padding) { return index == static_cast<double>(padding); }

// Arguments (weight, indices, offsets, ...).
Bags BagsOf(Call& c, int64_t rows, int64_t padding, bool last_offset) {
  Bags bags;
  bags.index = GatherIndex(c, c.tensor(1), {rows, false, kOutOfRange});
  const int64_t n = bags.index.dim(0);
  Value offsets = convert(c.tensor(2), DType::kS64);
  bags.num_bags = offsets.dim(0) - (last_offset ? 1 : 0);
  Value position = iota(c.builder(), 0, {DType::kS64, {n}});
  Value starts = slice_dim(offsets, 0, 0, bags.num_bags);
  bags.all_bags = convert(BinarySearch(starts, position, [](Value e, Value v) { return e <= v; }),
                          DType::kS32) -
                  1.0;
  bags.bag =
      padding < 0 ? bags.all_bags : where(IsPadding(bags.index, padding), -1.0, bags.all_bags);
  return bags;
}

// rows[i] for each row, along the second dim.
Value AcrossRow(Value column, Value rows) { return broadcast_in_dim(column, rows.dims(), {0}); }

Value Constant(Value like, double value, const Dims& dims) {
  return constant(like.builder(), value, {like.dtype(), dims});
}

// The number of indices in each bag, [num_bags].
Value Counts(const Bags& bags) {
  return ScatterDim(Constant(bags.bag, 0, {bags.num_bags}), 0, bags.bag,
                    Constant(bags.bag, 1, bags.bag.dims()), Add);
}

struct Maxima {
  Value values, indices;  // [num_bags, width]; of empty bags 0 and -1
};

Maxima MaxOfBags(const Bags& bags, Value rows) {
  const Dims dims = {bags.num_bags, rows.dim(1)};
  const Value lowest = broadcast_in_dim(shlo::min_value(rows.builder(), rows.dtype()), dims, {});
  Value top = ScatterDim(lowest, 0, bags.bag, rows, [](Value a, Value b) { return max(a, b); });
  // The first row of a bag that has its maximum.
  Value own = TakeDim(top, 0, bags.bag);
  const int64_t n = rows.dim(0);
  Value position = index_like(rows, 0, DType::kS32);
  Value hit = where((rows == own) | (is_nan(rows) & is_nan(own)), position, static_cast<double>(n));
  Value first = ScatterDim(Constant(hit, static_cast<double>(n), dims), 0, bags.bag, hit,
                           [](Value a, Value b) { return min(a, b); });
  Value found = first < static_cast<double>(n);
  return {where(found, top, 0.0), where(found, TakeDim(bags.index, 0, first), -1.0)};
}

// _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights?,
// include_last_offset, padding_idx) -> (output, offset2bag, bag_size, max_indices)
Results EmbeddingBag(Call& c) {
  Value weight = c.tensor(0);
  const int64_t mode = c.integer(4);
  const Bags bags = BagsOf(c, weight.dim(0), c.integer_or(8, -1), c.boolean_or(7, false));
  Value rows = opmath(TakeDim(weight, 0, bags.index));
  if (auto scale = c.opt_tensor(6)) rows = rows * AcrossRow(convert(*scale, rows.dtype()), rows);
  const Dims dims = {bags.num_bags, weight.dim(1)};

  Value output, maxima = constant(c.builder(), -1, c.out(3));
  Value counts = Counts(bags);
  if (mode == kMax) {
    const Maxima m = MaxOfBags(bags, rows);
    output = m.values;
    maxima = m.indices;
  } else {
    output = ScatterDim(Constant(rows, 0, dims), 0, bags.bag, rows, Add);
    if (mode == kMean) {
      output =
          output / AcrossRow(convert(max(counts, full_like(counts, 1)), output.dtype()), output);
    }
  }
  // With include_last_offset PyTorch's accelerator kernels leave one more entry in bag_size.
  const int64_t more = c.out(2).dims.at(0) - bags.num_bags;
  if (more > 0)
    counts = pad(counts, shlo::scalar(c.builder(), int64_t{0}, counts.dtype()), {0}, {more}, {0});
  Value offset2bag =
      c.out(1).dims == bags.all_bags.dims() ? bags.all_bags : constant(c.builder(), 0, c.out(1));
  return {output, offset2bag, counts, maxima};
}

// Positions of the arguments after (grad, indices); scale_grad_by_freq follows num_weights.
struct BackwardArguments {
  int offset2bag, bag_size, maximum_indices, num_weights, mode, per_sample_weights, padding;
};

// The gradient of the table.
Value TableGradient(Call& c, const BackwardArguments& at) {
  Value grad = opmath(c.tensor(0));
  const int64_t rows = c.integer(at.num_weights), mode = c.integer(at.mode), width = grad.dim(1);
  Value table = Constant(grad, 0, {rows, width});
  if (mode == kMax) {
    Value where_from = convert(c.tensor(at.maximum_indices), DType::kS64);
    return ScatterAlong(table, 0, ScatterIndex(c, where_from, {rows, false, kOutOfRange}), grad,
                        Add);
  }
  Value index = ScatterIndex(c, c.tensor(1), {rows, false, kOutOfRange});
  if (const int64_t padding = c.integer_or(at.padding, -1); padding >= 0) {
    index = where(IsPadding(index, padding), -1.0, index);
  }
  Value bag = convert(c.tensor(at.offset2bag), DType::kS32);
  Value updates = TakeDim(grad, 0, bag);
  if (mode == kMean) {
    Value size = convert(c.tensor(at.bag_size), grad.dtype());
    updates = updates / AcrossRow(TakeDim(max(size, full_like(size, 1)), 0, bag), updates);
  }
  if (auto scale = c.opt_tensor(at.per_sample_weights)) {
    updates = updates * AcrossRow(convert(*scale, grad.dtype()), updates);
  }
  if (c.boolean(at.num_weights + 1)) {
    Value ones = Constant(grad, 1, index.dims());
    Value count = ScatterDim(Constant(grad, 0, {rows}), 0, index, ones, Add);
    updates = updates / AcrossRow(TakeDim(count, 0, index), updates);
  }
  return ScatterDim(table, 0, index, updates, Add);
}

// _embedding_bag_backward(grad, indices, offsets, offset2bag, bag_size, maximum_indices,
// num_weights, scale_grad_by_freq, mode, sparse, per_sample_weights?, padding_idx)
Value EmbeddingBagBackward(Call& c) {
  if (c.boolean(9))
    throw shlo::BuildError(c.name() + ": sparse gradients are not supported; pass sparse=False");
  return TableGradient(c, {3, 4, 5, 6, 8, 10, 11});
}

// _embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, maximum_indices, num_weights,
// scale_grad_by_freq, mode, per_sample_weights?, padding_idx)
Value EmbeddingBagDenseBackward(Call& c) { return TableGradient(c, {2, 3, 4, 5, 7, 8, 9}); }

// _embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, mode,
// padding_idx)
Value PerSampleWeightsBackward(Call& c) {
  Value grad = opmath(c.tensor(0)), weight = opmath(c.tensor(1));
  Value index = GatherIndex(c, c.tensor(2), {weight.dim(0), false, kOutOfRange});
  Value bag = convert(c.tensor(4), DType::kS32);
  Value products = reduce_sum(TakeDim(grad, 0, bag) * TakeDim(weight, 0, index), {1});
  const int64_t padding = c.integer_or(6, -1);
  return padding < 0 ? products : where(IsPadding(index, padding), 0.0, products);
}

LOWER("aten::_embedding_bag", EmbeddingBag);
LOWER("aten::_embedding_bag_forward_only", EmbeddingBag);
LOWER("aten::_embedding_bag_backward", EmbeddingBagBackward);
LOWER("aten::_embedding_bag_dense_backward", EmbeddingBagDenseBackward);
LOWER("aten::_embedding_bag_per_sample_weights_backward", PerSampleWeightsBackward);

}  // namespace
}  // namespace torch_tpu::ops
