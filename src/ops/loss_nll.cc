// Negative log likelihood of class indices, of any number of spatial dims, and its gradient.
#include "ops/loss.h"
#include "ops/pointwise.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

using shlo::broadcast_in_dim;
using shlo::opmath;

// One forward or backward call: self is [C] or [N, C, ...], target [] or [N, ...].
struct Nll {
  Value target;  // dims of self without the class dim
  Value valid;   // i1: target is not ignore_index
  Value weight;  // of each target's class, 0 where ignored
  int64_t class_dim = 0;
  int64_t classes = 0;
};

// Element `target` of the class dim of `x`, for each target.
Value TakeClass(Value x, Value target, int64_t class_dim) {
  // A batch of none has no slice of one to gather.
  if (NumElements(target.dims()) == 0) return constant(x.builder(), 0, {x.dtype(), target.dims()});
  shlo::GatherDims dims;
  dims.collapsed_slice_dims = {class_dim};
  dims.start_index_map = {class_dim};
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i != class_dim) dims.operand_batching_dims.push_back(i);
  }
  for (int64_t i = 0; i < target.rank(); ++i) dims.start_indices_batching_dims.push_back(i);
  dims.index_vector_dim = target.rank();
  return gather(x, unsqueeze(target, -1), dims, Dims(x.rank(), 1));
}

Value ClassWeights(Value weight, Value target) {
  shlo::GatherDims dims;
  dims.collapsed_slice_dims = {0};
  dims.start_index_map = {0};
  dims.index_vector_dim = target.rank();
  return gather(weight, unsqueeze(target, -1), dims, {1});
}

// Arguments (self, target, weight, reduction, ignore_index) start at `first`.
Nll Prepare(Call& c, int first) {
  Value x = c.tensor(first);
  Nll nll;
  nll.class_dim = x.rank() == 1 ? 0 : 1;
  nll.classes = x.dim(nll.class_dim);
  Dims dims = x.dims();
  dims.erase(dims.begin() + nll.class_dim);
  const DType index = c.tensor(first + 1).dtype();
  if (index != DType::kS64 && index != DType::kU8)
    throw shlo::BuildError("expected a target of dtype int64 or uint8, got " +
                           std::string(DTypeName(index)));
  // A target of [1] goes with a self of [C].
  nll.target = reshape(convert(c.tensor(first + 1), DType::kS64), dims);
  double ignored = static_cast<double>(c.integer(first + 4));
  nll.valid = nll.target != ignored;
  DType dtype = shlo::opmath_dtype(x.dtype());
  nll.weight = convert(nll.valid, dtype);
  if (auto weight = c.opt_tensor(first + 2)) {
    nll.weight = where(nll.valid, ClassWeights(convert(*weight, dtype), nll.target), 0.0);
  }
  Value in_range = (nll.target >= 0.0) & (nll.target < static_cast<double>(nll.classes));
  c.check_index(reduce_all(in_range | !nll.valid, AllDims(nll.target)),
                "nll_loss: a target is out of bounds: expected 0 to " +
                    std::to_string(nll.classes - 1) + " or ignore_index " +
                    std::to_string(c.integer(first + 4)));
  return nll;
}

// nll_loss_forward(self, target, weight, reduction, ignore_index) -> output, total_weight. Total
// weight is 0 without a reduction of a batch.
Results NllForward(Call& c) {
  Value x = opmath(c.tensor(0));
  Nll nll = Prepare(c, 0);
  Value picked = -TakeClass(x, nll.target, nll.class_dim);
  Value loss = where(nll.valid, picked * nll.weight, 0.0);
  Value total = reduce_sum(nll.weight, AllDims(nll.weight));
  int64_t reduction = c.integer(3);
  if (reduction == kNone)
    return {loss, x.rank() == 1 ? total : constant(c.builder(), 0, total.type())};
  Value sum = reduce_sum(loss, AllDims(loss));
  return {reduction == kSum ? sum : sum / total, total};
}

// nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight)
Value NllBackward(Call& c) {
  Nll nll = Prepare(c, 1);
  Value grad = opmath(c.tensor(0));
  if (c.integer(4) == kMean) grad = grad / reshape(convert(c.tensor(6), grad.dtype()), {});
  if (grad.rank() > 0 && grad.dims() != nll.target.dims()) grad = reshape(grad, nll.target.dims());
  Value slope = where(nll.valid, -(nll.weight * grad), 0.0);
  Dims kept;
  for (int64_t i = 0; i < c.out().rank(); ++i) {
    if (i != nll.class_dim) kept.push_back(i);
  }
  Value target = broadcast_in_dim(nll.target, c.out().dims, kept);
  Value classes = index_like(target, nll.class_dim);
  return where(classes == target, broadcast_in_dim(slope, c.out().dims, kept), 0.0);
}

LOWER("aten::nll_loss_forward", NllForward);
LOWER("aten::nll_loss2d_forward", NllForward);
LOWER("aten::nll_loss_backward", NllBackward);
LOWER("aten::nll_loss2d_backward", NllBackward);

}  // namespace
}  // namespace torch_tpu::ops
