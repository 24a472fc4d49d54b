// Margin losses over classes: the multi-label one, and the gradients. (PyTorch's decomposition of
// the multi-label loss also counts what lies behind the last target.)
#include "ops/index_util.h"
#include "ops/loss.h"
#include "ops/pointwise.h"
#include "ops/scan_util.h"

namespace torch_tpu::ops {
namespace {

using shlo::broadcast_in_dim;

// [C] is one row.
Value Rows(Value x) { return x.rank() == 2 ? x : reshape(x, {1, NumElements(x.dims())}); }

// grad_output for each of `rows` rows, divided by what the loss was averaged over.
Value RowGradient(const Call& c, int reduction, int64_t rows, int64_t classes) {
  Value grad = shlo::opmath(c.tensor(0));
  const double count = static_cast<double>(classes * (c.integer(reduction) == kMean ? rows : 1));
  grad = reshape(grad, {NumElements(grad.dims())}) / count;
  return grad.dim(0) == rows ? grad : shlo::broadcast_to(grad, {rows});
}

// multi_margin_loss_backward(grad_output, self, target, p, margin, weight, reduction)
Value MultiMarginBackward(Call& c) {
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  Value x = Rows(shlo::opmath(c.tensor(1)));
  const Dims& dims = x.dims();
  const IndexRange range = BoundsOf(1, x.dim(1), /*wraps=*/false);
  Value target = GatherIndex(c, reshape(c.tensor(2), {x.dim(0), 1}), range);
  const auto spread = [&](Value v) { return broadcast_in_dim(v, dims, {0}); };
  const auto per_row = [&](Value v) { return reshape(v, {x.dim(0)}); };
  Value own = spread(per_row(GatherAlong(x, 1, target)));
  Value is_target = index_like(x, 1, target.dtype()) == spread(per_row(target));
  Value slack = x - own + ResultNumber(c, 4);
  Value slope = c.number_is(3, 1) ? full_like(x, 1) : slack * 2.0;
  Value grad = RowGradient(c, 6, x.dim(0), x.dim(1));
  if (c.has(5)) grad = grad * TakeDim(convert(c.tensor(5), x.dtype()), 0, per_row(target));
  Value pushed = where((slack > 0.0) & !is_target, slope * spread(grad), 0.0);
  Value sum = spread(shlo::reduce_sum(pushed, {1}));
  return reshape(where(is_target, -sum, pushed), c.out().dims);
}

// Every pair of a target and a class that is no target of the row.
struct LabelPairs {
  Value index;   // [rows, classes]: the targets, 0 behind the last one
  Value other;   // [rows, classes]: the class is no target
  Value slack;   // [rows, target number, class]
  Value counts;  // i1 of the same: both valid, and the slack is positive
};

// The targets of a row end at the first negative one. `is_target` may be given.
LabelPairs PairLabels(Value x, Value target, std::optional<Value> is_target) {
  Builder& b = x.builder();
  const Dims pairs = {x.dim(0), x.dim(1), x.dim(1)};
  const auto by_target = [&](Value v) { return broadcast_in_dim(v, pairs, {0, 1}); };
  const auto by_class = [&](Value v) { return broadcast_in_dim(v, pairs, {0, 2}); };
  Value valid = Scan(convert(target >= 0.0, DType::kS32), shlo::scalar(b, int64_t{1}, DType::kS32),
                     1, [](Value m, Value n) { return min(m, n); }) != 0.0;
  LabelPairs p;
  p.index = where(valid, convert(target, DType::kS64), 0.0);
  if (is_target) {
    p.other = *is_target == 0.0;
  } else {
    Value same = by_target(p.index) == shlo::iota(b, 2, {DType::kS64, pairs});
    p.other = !shlo::reduce_any(same & by_target(valid), {1});
  }
  p.slack = 1.0 - by_target(GatherAlong(x, 1, p.index)) + by_class(x);
  p.counts = by_target(valid) & by_class(p.other) & (p.slack > 0.0);
  return p;
}

// multilabel_margin_loss_forward(self, target, reduction) -> loss, is_target
Results MultilabelMargin(Call& c) {
  Value x = Rows(shlo::opmath(c.tensor(0))), target = Rows(c.tensor(1));
  if (NumElements(x.dims()) == 0) {
    return {constant(c.builder(), 0, c.out(0)), constant(c.builder(), 0, c.out(1))};
  }
  const LabelPairs p = PairLabels(x, target, std::nullopt);
  Value loss = shlo::reduce_sum(where(p.counts, p.slack, 0.0), {1, 2});
  loss = ReduceLoss(c, 2, loss / static_cast<double>(x.dim(1)));
  return {reshape(loss, c.out(0).dims), reshape(!p.other, c.out(1).dims)};
}

std::vector<TensorType> MultilabelMarginShape(const Call& c) {
  const TensorType self = c.tensor(0).type();
  const bool each = c.integer(2) == kNone && self.dims.size() == 2;
  return {{self.dtype, each ? Dims{self.dims[0]} : Dims{}}, {self.dtype, c.tensor(1).dims()}};
}

// multilabel_margin_loss_backward(grad_output, self, target, reduction, is_target)
Value MultilabelMarginBackward(Call& c) {
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  Value x = Rows(shlo::opmath(c.tensor(1)));
  const LabelPairs p = PairLabels(x, Rows(c.tensor(2)), Rows(c.tensor(4)));
  Value counts = convert(p.counts, x.dtype());
  Value grad = shlo::reduce_sum(counts, {1});
  grad = ScatterAlong(grad, 1, p.index, -shlo::reduce_sum(counts, {2}), Add);
  Value scale = RowGradient(c, 3, x.dim(0), x.dim(1));
  return reshape(grad * broadcast_in_dim(scale, x.dims(), {0}), c.out().dims);
}

std::vector<TensorType> LikeSelf(const Call& c) { return {c.tensor(1).type()}; }

LOWER("aten::multi_margin_loss_backward", MultiMarginBackward, {.shape = LikeSelf});
LOWER("aten::multilabel_margin_loss_forward", MultilabelMargin, {.shape = MultilabelMarginShape});
LOWER("aten::multilabel_margin_loss_backward", MultilabelMarginBackward, {.shape = LikeSelf});

}  // namespace
}  // namespace torch_tpu::ops
