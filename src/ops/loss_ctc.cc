// Connectionist temporal classification: the loss over all alignments of targets with a sequence,
// and its gradient.
//
// The lowerings take padded targets [n, s] and lengths as tensors, so that new lengths need no new
// program; device/host_sizes turns PyTorch's other forms into this one. Everything is in log space.
// The extended label sequence of a target interleaves it with blanks: 2 s + 1 labels.
#include <limits>

#include "ops/index_util.h"

namespace torch_tpu::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Alignment {
  int64_t steps, batch, classes, labels;
  DType dtype;
  Value log_probs;                      // [steps, batch, classes]
  Value label;                          // [batch, labels], extended
  Value label_log_probs;                // [steps, batch, labels]
  Value may_skip;                       // [batch, labels]: label i may follow label i - 2
  Value input_lengths, target_lengths;  // [batch], kS32
};

// [batch, labels] over the steps.
Value OverSteps(const Alignment& a, Value v) {
  return broadcast_in_dim(v, {a.steps, a.batch, a.labels}, {1, 2});
}
// [batch] over the labels.
Value OverLabels(const Alignment& a, Value v) {
  return broadcast_in_dim(v, {a.batch, a.labels}, {0});
}

// Arguments log_probs, targets, input_lengths, target_lengths from `first` on.
Alignment ReadAlignment(const Call& c, int first, int64_t blank) {
  Alignment a;
  a.log_probs = c.tensor(first);
  a.steps = a.log_probs.dim(0);
  a.batch = a.log_probs.dim(1);
  a.classes = a.log_probs.dim(2);
  a.dtype = a.log_probs.dtype();
  Value targets = convert(c.tensor(first + 1), DType::kS32);
  const int64_t longest = targets.dim(1);
  a.labels = 2 * longest + 1;
  Value blank_label = shlo::scalar(c.builder(), blank, DType::kS32);
  a.label = longest == 0 ? shlo::broadcast_to(blank_label, {a.batch, 1})
                         : pad(targets, blank_label, {0, 1}, {0, 1}, {0, 1});
  a.label_log_probs = GatherAlong(a.log_probs, 2, OverSteps(a, a.label));
  Value before = pad(a.label, blank_label, {0, 2}, {0, -2}, {0, 0});
  Value position = index_like(a.label, 1, DType::kS32);
  a.may_skip = (position > 1.0) & (a.label != before);
  a.input_lengths = convert(c.tensor(first + 2), DType::kS32);
  a.target_lengths = convert(c.tensor(first + 3), DType::kS32);
  return a;
}

// x moved by `by` labels; -inf comes in.
Value Moved(Value x, int64_t by) {
  Value low = shlo::scalar(x.builder(), -kInfinity, x.dtype());
  return pad(x, low, {0, by}, {0, -by}, {0, 0});
}

// log(exp(a) + exp(b) + exp(c)).
Value LogSum(Value a, Value b, Value c) {
  Value top = max(max(a, b), c);
  top = where(top == -kInfinity, 0.0, top);
  return log(exponential(a - top) + exponential(b - top) + exponential(c - top)) + top;
}

// Row t of x[steps, batch, labels].
Value Row(const Alignment& a, Value x, Value t) {
  Value zero = shlo::scalar(x.builder(), int64_t{0}, DType::kS32);
  const Value starts[] = {t, zero, zero};
  return reshape(dynamic_slice(x, starts, {1, a.batch, a.labels}), {a.batch, a.labels});
}

Value WithRow(const Alignment& a, Value x, Value row, Value t) {
  Value zero = shlo::scalar(x.builder(), int64_t{0}, DType::kS32);
  const Value starts[] = {t, zero, zero};
  return dynamic_update_slice(x, reshape(row, {1, a.batch, a.labels}), starts);
}

// [steps, batch, labels]: the log probability of all ways to be at a label after a step.
Value Forward(const Alignment& a) {
  Builder& b = a.log_probs.builder();
  Value position = index_like(a.label, 1, DType::kS32);
  Value has_target = OverLabels(a, a.target_lengths > 0.0);
  Value start = (position == 0.0) | ((position == 1.0) & has_target);
  Value zero = shlo::scalar(b, int64_t{0}, DType::kS32);
  Value first = where(start, Row(a, a.label_log_probs, zero), -kInfinity);
  Value low = shlo::constant(b, -kInfinity, {a.dtype, {a.steps, a.batch, a.labels}});
  const Value init[] = {shlo::scalar(b, int64_t{1}, DType::kS32), first,
                        WithRow(a, low, first, zero)};
  return while_(
      init, [&](std::span<const Value> v) { return v[0] < static_cast<double>(a.steps); },
      [&](std::span<const Value> v) -> Results {
        Value at = v[1];
        Value skipped = where(a.may_skip, Moved(at, 2), -kInfinity);
        Value next = LogSum(at, Moved(at, 1), skipped) + Row(a, a.label_log_probs, v[0]);
        return {v[0] + 1.0, next, WithRow(a, v[2], next, v[0])};
      })[2];
}

// The same from the end: the log probability of all ways to go on from a label at a step, that
// step's label included.
Value Backward(const Alignment& a) {
  Builder& b = a.log_probs.builder();
  Value position = index_like(a.label, 1, DType::kS32);
  Value last = OverLabels(a, a.target_lengths * 2.0);
  Value is_end = (position == last) | ((position == last - 1.0) & (last > 0.0));
  Value last_step = OverLabels(a, a.input_lengths - 1.0);
  // Label i may be skipped to i + 2 if that one may follow it.
  Value skips_on =
      pad(a.may_skip, shlo::constant(b, 0, {DType::kPred, {}}), {0, -2}, {0, 2}, {0, 0});
  Value low = shlo::constant(b, -kInfinity, {a.dtype, {a.steps, a.batch, a.labels}});
  Value none = shlo::constant(b, -kInfinity, {a.dtype, {a.batch, a.labels}});
  const Value init[] = {shlo::scalar(b, a.steps - 1, DType::kS32), none, low};
  return while_(
      init, [&](std::span<const Value> v) { return v[0] >= 0.0; },
      [&](std::span<const Value> v) -> Results {
        Value at = v[1], t = shlo::broadcast_to(v[0], last_step.dims());
        Value skipped = where(skips_on, Moved(at, -2), -kInfinity);
        Value here = Row(a, a.label_log_probs, v[0]);
        Value next = LogSum(at, Moved(at, -1), skipped) + here;
        next = where(t == last_step, where(is_end, here, -kInfinity),
                     where(t > last_step, -kInfinity, next));
        return {v[0] - 1.0, next, WithRow(a, v[2], next, v[0])};
      })[2];
}

// Column index[batch] of x[batch, labels].
Value Pick(const Alignment& a, Value x, Value index) {
  return reshape(GatherAlong(x, 1, unsqueeze(index, -1)), {a.batch});
}

// log_probs, targets, input_lengths, target_lengths, blank, zero_infinity -> negative log
// likelihoods, log_alpha[batch, steps, labels]
Results CtcLoss(Call& c) {
  const Alignment a = ReadAlignment(c, 0, c.integer(4));
  Value nothing = where(a.target_lengths == 0.0,
                        shlo::constant(c.builder(), 0, {a.dtype, {a.batch}}), kInfinity);
  if (a.steps == 0 || a.batch == 0) return {nothing, constant(c.builder(), 0, c.out(1))};
  Value alpha = Forward(a);
  Value at = max(a.input_lengths - 1.0, full_like(a.input_lengths, 0));
  Value row = broadcast_in_dim(at, {1, a.batch, a.labels}, {1});
  Value end = reshape(GatherAlong(alpha, 0, row), {a.batch, a.labels});
  Value last = a.target_lengths * 2.0;
  Value in_target = Pick(a, end, max(last - 1.0, full_like(last, 0)));
  in_target = where(last > 0.0, in_target, -kInfinity);
  Value low = full_like(in_target, -kInfinity);
  Value loss = -LogSum(Pick(a, end, last), in_target, low);
  return {where(a.input_lengths > 0.0, loss, nothing), transpose(alpha, {1, 0, 2})};
}

std::vector<TensorType> CtcLossShape(const Call& c) {
  const Value log_probs = c.tensor(0);
  const int64_t batch = log_probs.dim(1), longest = c.tensor(1).dim(1);
  return {{log_probs.dtype(), {batch}},
          {log_probs.dtype(), {batch, log_probs.dim(0), 2 * longest + 1}}};
}

// grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank,
// zero_infinity
Value CtcLossBackward(Call& c) {
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  const Alignment a = ReadAlignment(c, 1, c.integer(7));
  Value loss = c.tensor(5);
  Value both = transpose(c.tensor(6), {1, 0, 2}) + Backward(a);
  Value shift = broadcast_in_dim(loss, both.dims(), {1});
  // How likely each label is at each step, given the targets.
  Value posterior = where(both == -kInfinity, 0.0, exponential(both - a.label_log_probs + shift));
  Value expected =
      ScatterAlong(full_like(a.log_probs, 0), 2, OverSteps(a, a.label), posterior, Add);
  const auto over_all = [&](Value v) { return broadcast_in_dim(v, a.log_probs.dims(), {1}); };
  Value grad = (exponential(a.log_probs) - expected) * over_all(convert(c.tensor(0), a.dtype));
  Value impossible = over_all(loss == kInfinity);
  const double of_impossible = c.boolean(8) ? 0 : std::numeric_limits<double>::quiet_NaN();
  grad = where(impossible, of_impossible, grad);
  Value t = index_like(a.log_probs, 0, DType::kS32);
  return where(t < over_all(a.input_lengths), grad, 0.0);
}

std::vector<TensorType> LikeLogProbs(const Call& c) { return {c.tensor(1).type()}; }

LOWER("aten::_ctc_loss.Tensor", CtcLoss, {.shape = CtcLossShape});
LOWER("aten::_ctc_loss_backward.Tensor", CtcLossBackward, {.shape = LikeLogProbs});

}  // namespace
}  // namespace torch_tpu::ops
