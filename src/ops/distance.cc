// Distances between rows: cdist, pdist and their gradients.
#include <cmath>

#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/sort_util.h"

namespace torch_tpu::ops {
namespace {

// The p-norm of differences over the last dim.
Value Norm(Value difference, double p) {
  const Dims last = {difference.rank() - 1};
  Value size = abs(difference);
  if (p == 0) return reduce_sum(convert(size != 0.0, size.dtype()), last);
  if (p == 1) return reduce_sum(size, last);
  if (p == 2) return sqrt(reduce_sum(size * size, last));
  if (std::isinf(p)) return reduce_max(size, last);
  Value sum = reduce_sum(power(size, full_like(size, p)), last);
  return power(sum, full_like(sum, 1 / p));
}

// d norm / d difference times grad. `norm` and `grad` have the dims of `difference`.
Value NormGradient(Value difference, Value norm, Value grad, double p) {
  if (p == 0) return full_like(difference, 0);
  Value direction = sign(difference) * grad;
  if (p == 1) return direction;
  Value size = abs(difference);
  if (std::isinf(p)) return where(size == norm, direction, 0.0);
  Value ratio = size / norm;
  if (p != 2) ratio = power(ratio, full_like(ratio, p - 1));
  return where((norm == 0.0) | (size == 0.0), 0.0, direction * ratio);
}

// x[..., i, m] and y[..., j, m] as [..., P, R, M].
Value OverColumns(Value x, const Dims& dims) { return broadcast_to(unsqueeze(x, -2), dims); }
Value OverRows(Value y, const Dims& dims) { return broadcast_to(unsqueeze(y, -3), dims); }

Dims PairDims(const Dims& batch_p_r, int64_t width) {
  Dims dims = batch_p_r;
  dims.push_back(width);
  return dims;
}

// |x|^2 + |y|^2 - 2 x.y: a matrix product for large inputs, as PyTorch does by default.
Value EuclideanByProduct(Value x, Value y, const Dims& result) {
  const int64_t rank = static_cast<int64_t>(result.size());
  Dims x_dims = result, y_dims = result;
  x_dims[rank - 1] = y_dims[rank - 1] = x.dim(-1);
  y_dims[rank - 2] = result[rank - 1];
  x = broadcast_to(x, x_dims);
  y = broadcast_to(y, y_dims);
  shlo::DotDims dims;
  for (int64_t d = 0; d + 2 < rank; ++d) {
    dims.lhs_batch.push_back(d);
    dims.rhs_batch.push_back(d);
  }
  dims.lhs_contract = dims.rhs_contract = {rank - 1};
  // Squares of neighbours cancel: only the highest precision leaves anything of their distance.
  Value product = dot_general(x, y, dims, shlo::Precision::kHighest);
  Value x_squares = reduce_sum(x * x, {rank - 1}, /*keepdim=*/true);
  Value y_squares = unsqueeze(reduce_sum(y * y, {rank - 1}), rank - 2);
  Value squared = broadcast_to(x_squares, result) + broadcast_to(y_squares, result) - 2.0 * product;
  return sqrt(max(squared, full_like(squared, 0)));
}

// _cdist_forward(x1, x2, p, compute_mode?)
Value CdistForward(Call& c) {
  Value x = opmath(c.tensor(0)), y = opmath(c.tensor(1));
  const Dims& result = c.out().dims;
  if (NumElements(result) == 0 || x.dim(-1) == 0)
    return constant(c.builder(), 0, {x.dtype(), result});
  const double p = c.static_number(2);
  const int64_t mode = c.integer_or(3, 0);
  const bool large = x.dim(-2) > 25 || y.dim(-2) > 25;
  if (p == 2 && (mode == 1 || (mode == 0 && large))) return EuclideanByProduct(x, y, result);
  const Dims dims = PairDims(result, x.dim(-1));
  return Norm(OverColumns(x, dims) - OverRows(y, dims), p);
}

// _cdist_backward(grad, x1, x2, p, cdist)
Value CdistBackward(Call& c) {
  Value grad = opmath(c.tensor(0)), x = opmath(c.tensor(1)), y = opmath(c.tensor(2));
  const Dims dims = PairDims(grad.dims(), x.dim(-1));
  if (NumElements(dims) == 0) return constant(c.builder(), 0, c.out());
  const double p = c.static_number(3);
  auto per_pair = [&](Value v) { return broadcast_to(unsqueeze(v, -1), dims); };
  Value difference = OverColumns(x, dims) - OverRows(y, dims);
  Value gradient = NormGradient(difference, per_pair(opmath(c.tensor(4))), per_pair(grad), p);
  return reduce_sum(gradient, {grad.rank() - 1});
}

// Pairs i < j of n rows in row-major order.
struct Pairs {
  Value i, j;  // [n * (n - 1) / 2]
};

// Where the pairs of row i start: i * (2n - i - 1) / 2.
Value FirstPair(Value i, int64_t n) { return i * (static_cast<double>(2 * n - 1) - i) / 2.0; }

Pairs PairsOf(Builder& b, int64_t n) {
  Value k = iota(b, 0, {DType::kS64, {n * (n - 1) / 2}});
  Value starts = FirstPair(iota(b, 0, {DType::kS64, {n}}), n);
  Value i =
      convert(BinarySearch(starts, k, [](Value e, Value v) { return e <= v; }), DType::kS64) - 1.0;
  return {i, k - FirstPair(i, n) + i + 1.0};
}

// _pdist_forward(self, p)
Value PdistForward(Call& c) {
  Value x = opmath(c.tensor(0));
  if (NumElements(c.out().dims) == 0 || x.dim(1) == 0) return constant(c.builder(), 0, c.out());
  const Pairs pairs = PairsOf(c.builder(), x.dim(0));
  return Norm(TakeDim(x, 0, pairs.i) - TakeDim(x, 0, pairs.j), c.static_number(1));
}

// _pdist_backward(grad, self, p, pdist)
Value PdistBackward(Call& c) {
  Value grad = opmath(c.tensor(0)), x = opmath(c.tensor(1));
  if (NumElements(grad.dims()) == 0 || x.dim(1) == 0) return constant(c.builder(), 0, c.out());
  const Pairs pairs = PairsOf(c.builder(), x.dim(0));
  Value difference = TakeDim(x, 0, pairs.i) - TakeDim(x, 0, pairs.j);
  auto per_pair = [&](Value v) { return broadcast_in_dim(v, difference.dims(), {0}); };
  Value gradient =
      NormGradient(difference, per_pair(opmath(c.tensor(3))), per_pair(grad), c.static_number(2));
  Value sum = ScatterDim(full_like(x, 0), 0, pairs.i, gradient, Add);
  return ScatterDim(sum, 0, pairs.j, -gradient, Add);
}

LOWER("aten::_cdist_forward", CdistForward, {.static_numbers = {2}});
LOWER("aten::_cdist_backward", CdistBackward, {.static_numbers = {3}});
LOWER("aten::_pdist_forward", PdistForward, {.static_numbers = {1}});
LOWER("aten::_pdist_backward", PdistBackward, {.static_numbers = {2}});

}  // namespace
}  // namespace torch_tpu::ops
