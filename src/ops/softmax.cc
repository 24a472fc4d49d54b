// Softmax, log-softmax, their gradients, and logsumexp. Half types are computed in float32.
#include "ops/norm.h"

namespace torch_tpu::ops {
namespace {

// A tensor of rank 0 is one row of one element.
Value AtLeastVector(Value x) { return x.rank() == 0 ? shlo::reshape(x, {1}) : x; }

struct Rows {
  Value x;
  Dims dim;  // the one reduced
};

// Argument `x` in the computation's dtype and its dim argument `dim`.
Rows ReadRows(const Call& c, int x, int dim) {
  Value v = AtLeastVector(shlo::opmath(c.tensor(x)));
  return {v, {shlo::wrap_dim(c.integer(dim), v.rank())}};
}

Value Restore(const Call& c, Value y) { return shlo::reshape(y, c.out().dims); }

// x minus its maximum. A row of all -inf becomes NaN, as in PyTorch.
Value Shifted(const Rows& r) { return r.x - Like(shlo::reduce_max(r.x, r.dim, true), r.x); }

Value SumLike(Value x, const Dims& dim) { return Like(shlo::reduce_sum(x, dim, true), x); }

// self, dim, half_to_float
Value Softmax(Call& c) {
  const Rows r = ReadRows(c, 0, 1);
  Value e = shlo::exponential(Shifted(r));
  return Restore(c, e / SumLike(e, r.dim));
}

Value LogSoftmax(Call& c) {
  const Rows r = ReadRows(c, 0, 1);
  Value shifted = Shifted(r);
  return Restore(c, shifted - shlo::log(SumLike(shlo::exponential(shifted), r.dim)));
}

// self, dim, dtype: rows of all -inf give 0.
Value SafeSoftmax(Call& c) {
  Rows r = ReadRows(c, 0, 1);
  r.x = shlo::convert(r.x, shlo::opmath_dtype(c.out().dtype));
  Value e = shlo::exponential(Shifted(r));
  Value masked = shlo::reduce_all(r.x == shlo::min_value(c.builder(), r.x.dtype()), r.dim, true);
  return Restore(c,
                 shlo::where(shlo::broadcast_to(masked, r.x.dims()), 0.0, e / SumLike(e, r.dim)));
}

// The mask, true where positions do not count, with the dims of x[b, heads, l, s]: of these dims
// itself, [l, s] for type 0, or [b, s] for type 1.
Value SpreadMask(Value mask, Value x, int64_t type) {
  if (type == 1 && mask.rank() == 2) mask = shlo::reshape(mask, {mask.dim(0), 1, 1, mask.dim(1)});
  return Like(mask, x);
}

// self, mask, dim, mask_type: masked positions are 0, rows of nothing else NaN.
Value MaskedSoftmax(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const Dims dim = {shlo::wrap_dim(c.integer_or(2, -1), x.rank())};
  Value masked = SpreadMask(c.tensor(1), x, c.integer_or(3, 2));
  Value low = shlo::min_value(c.builder(), x.dtype());
  x = shlo::where(masked, low, x);
  // Of a row that is masked throughout, -inf - -inf leaves NaN.
  Value e = shlo::exponential(x - Like(shlo::reduce_max(x, dim, true), x));
  return e / SumLike(e, dim);
}

std::vector<TensorType> MaskedSoftmaxShape(const Call& c) {
  const TensorType self = c.tensor(0).type(), mask = c.tensor(1).type();
  if (mask.dtype != DType::kPred) throw shlo::BuildError("_masked_softmax: expected a bool mask");
  if (c.integer_or(3, 2) == 2 && mask.dims != self.dims)
    throw shlo::BuildError("_masked_softmax: expected a mask of the size of self");
  return {self};
}

// grad_output, output, mask, dim
Value MaskedSoftmaxBackward(Call& c) {
  Value y = shlo::opmath(c.tensor(1)), masked = Like(c.tensor(2), y);
  const Dims dim = {shlo::wrap_dim(c.integer_or(3, -1), y.rank())};
  Value g = shlo::where(masked, 0.0, shlo::opmath(c.tensor(0)) * y);
  return shlo::where(masked, 0.0, g - y * SumLike(g, dim));
}

std::vector<TensorType> LikeFirst(const Call& c) { return {c.tensor(0).type()}; }

// grad_output, output, dim, input_dtype
Value SoftmaxBackward(Call& c) {
  const Rows y = ReadRows(c, 1, 2);
  Value g = AtLeastVector(shlo::opmath(c.tensor(0))) * y.x;
  return Restore(c, g - y.x * SumLike(g, y.dim));
}

Value LogSoftmaxBackward(Call& c) {
  const Rows y = ReadRows(c, 1, 2);
  Value g = AtLeastVector(shlo::opmath(c.tensor(0)));
  return Restore(c, g - shlo::exponential(y.x) * SumLike(g, y.dim));
}

// self, dim[], keepdim
Value LogSumExp(Call& c) {
  Value x = c.tensor(0);
  if (!IsFloat(x.dtype())) x = shlo::convert(x, c.out().dtype);
  x = AtLeastVector(shlo::opmath(x));
  Dims dims = c.ints(1);
  for (int64_t& d : dims) d = shlo::wrap_dim(d, x.rank());
  if (dims.empty()) dims = DimRange(0, x.rank());
  if (NumElements(x.dims()) == 0) {
    return Restore(c, shlo::log(shlo::reduce_sum(shlo::exponential(x), dims)));
  }
  // An infinite maximum is its own answer: subtracting it would give NaN.
  Value max = shlo::reduce_max(IsComplex(x.dtype()) ? shlo::real(x) : x, dims, true);
  max = shlo::convert(shlo::where(shlo::is_finite(max), max, 0.0), x.dtype());
  Value sum = shlo::reduce_sum(shlo::exponential(x - Like(max, x)), dims, true);
  return Restore(c, shlo::log(sum) + max);
}

LOWER("aten::_masked_softmax", MaskedSoftmax, {.shape = MaskedSoftmaxShape});
LOWER("aten::_masked_softmax_backward", MaskedSoftmaxBackward, {.shape = LikeFirst});
LOWER("aten::_softmax", Softmax);
LOWER("aten::_log_softmax", LogSoftmax);
LOWER("aten::_safe_softmax", SafeSoftmax);
LOWER("aten::_softmax_backward_data", SoftmaxBackward);
LOWER("aten::_log_softmax_backward_data", LogSoftmaxBackward);
LOWER("aten::logsumexp", LogSumExp);

}  // namespace
}  // namespace torch_tpu::ops
