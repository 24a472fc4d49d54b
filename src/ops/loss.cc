// Elementwise losses and their gradients.
#include "ops/loss.h"

#include "ops/pointwise.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {

using shlo::broadcast_dims;
using shlo::broadcast_to;
using shlo::opmath_dtype;

Value ReduceLoss(const Call& c, int i, Value loss) {
  int64_t reduction = c.integer(i);
  if (reduction == kNone) return loss;
  Value sum = reduce_sum(loss, AllDims(loss));
  return reduction == kSum ? sum : sum / static_cast<double>(NumElements(loss.dims()));
}

Value ElementGradient(const Call& c, int i, double count) {
  Value grad = convert(c.tensor(0), opmath_dtype(c.out().dtype));
  return c.integer(i) == kMean ? grad / count : grad;
}

namespace {

// The two operands of a loss in the dtype it is computed in, broadcast to each other.
struct Pair {
  Value input, target;
};

Pair Operands(const Call& c, int input, int target) {
  DType dtype = opmath_dtype(c.out().dtype);
  Value x = convert(c.tensor(input), dtype), y = convert(c.tensor(target), dtype);
  Dims shapes[] = {x.dims(), y.dims()};
  Dims dims = broadcast_dims(shapes);
  return {broadcast_to(x, dims), broadcast_to(y, dims)};
}

// slope * grad_output, where the arguments start with (grad_output, self, target).
Value Gradient(const Call& c, int reduction, Value slope) {
  Value grad = ElementGradient(c, reduction, static_cast<double>(NumElements(slope.dims())));
  return slope * broadcast_to(grad, slope.dims());
}

// --- squared and absolute differences ----------------------------------------------------------

Value MseLoss(Call& c) {  // mse_loss(self, target, reduction)
  auto [x, y] = Operands(c, 0, 1);
  Value d = x - y;
  return ReduceLoss(c, 2, d * d);
}

Value MseLossBackward(Call& c) {  // mse_loss_backward(grad_output, self, target, reduction)
  auto [x, y] = Operands(c, 1, 2);
  return Gradient(c, 3, (x - y) * 2.0);
}

Value SmoothL1Loss(Call& c) {  // smooth_l1_loss(self, target, reduction, beta)
  auto [x, y] = Operands(c, 0, 1);
  Value beta = ResultNumber(c, 3), d = abs(x - y);
  return ReduceLoss(c, 2, where(d < beta, d * d * 0.5 / beta, d - beta * 0.5));
}

Value SmoothL1LossBackward(
    Call& c) {  // smooth_l1_loss_backward(grad_output, self, target, reduction, beta)
  auto [x, y] = Operands(c, 1, 2);
  Value beta = ResultNumber(c, 4), d = x - y;
  return Gradient(c, 3, where(d <= -beta, -1.0, where(d >= beta, 1.0, d / beta)));
}

Value HuberLoss(Call& c) {  // huber_loss(self, target, reduction, delta)
  auto [x, y] = Operands(c, 0, 1);
  Value delta = ResultNumber(c, 3), d = abs(x - y);
  return ReduceLoss(c, 2, where(d <= delta, d * d * 0.5, (d - delta * 0.5) * delta));
}

Value HuberLossBackward(
    Call& c) {  // huber_loss_backward(grad_output, self, target, reduction, delta)
  auto [x, y] = Operands(c, 1, 2);
  Value delta = ResultNumber(c, 4), d = x - y;
  return Gradient(c, 3, where(d < -delta, -delta, where(d > delta, delta, d)));
}

LOWER("aten::mse_loss", MseLoss);
LOWER("aten::mse_loss_backward", MseLossBackward);
LOWER("aten::smooth_l1_loss", SmoothL1Loss);
LOWER("aten::smooth_l1_loss_backward", SmoothL1LossBackward);
LOWER("aten::huber_loss", HuberLoss);
LOWER("aten::huber_loss_backward", HuberLossBackward);

// --- binary cross entropy ------------------------------------------------------------------------

Value Weighted(const Call& c, int weight, Value loss) {
  auto w = c.opt_tensor(weight);
  return w ? loss * broadcast_to(convert(*w, loss.dtype()), loss.dims()) : loss;
}

// binary_cross_entropy(self, target, weight, reduction): logarithms stop at -100.
Value BinaryCrossEntropy(Call& c) {
  auto [x, y] = Operands(c, 0, 1);
  Value floor = full_like(x, -100.0);
  Value loss = (y - 1.0) * max(log_plus_one(-x), floor) - y * max(log(x), floor);
  c.check(reduce_all((x >= 0.0) & (x <= 1.0), AllDims(x)),
          "binary_cross_entropy: all elements of input should be between 0 and 1");
  return ReduceLoss(c, 3, Weighted(c, 2, loss));
}

// binary_cross_entropy_backward(grad_output, self, target, weight, reduction)
Value BinaryCrossEntropyBackward(Call& c) {
  auto [x, y] = Operands(c, 1, 2);
  Value slope = (x - y) / max((1.0 - x) * x, full_like(x, 1e-12));
  return Gradient(c, 4, Weighted(c, 3, slope));
}

LOWER("aten::binary_cross_entropy", BinaryCrossEntropy);
LOWER("aten::binary_cross_entropy_backward", BinaryCrossEntropyBackward);

}  // namespace
}  // namespace torch_tpu::ops
