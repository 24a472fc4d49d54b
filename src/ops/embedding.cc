// embedding and its gradient.
#include <limits>

#include "ops/index_util.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

constexpr char kOutOfRange[] = "index out of range in self";

// embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)
Value Embedding(Call& c) {
  Value weight = c.tensor(0);
  return TakeDim(weight, 0, GatherIndex(c, c.tensor(1), {weight.dim(0), false, kOutOfRange}));
}

// embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)
Value EmbeddingDenseBackward(Call& c) {
  Value index = c.tensor(1);
  const int64_t n = NumElements(index.dims()), num_weights = c.integer(2),
                width = c.out().dims.at(1);
  index = ScatterIndex(c, reshape(index, {n}), {num_weights, false, kOutOfRange});
  if (c.integer(3) >= 0) index = where(index == static_cast<double>(c.integer(3)), -1.0, index);
  Value grad = reshape(opmath(c.tensor(0)), {n, width});
  if (c.boolean(4)) {
    Value count = constant(c.builder(), 0, {grad.dtype(), {num_weights}});
    count = ScatterDim(count, 0, index, constant(c.builder(), 1, {grad.dtype(), {n}}), Add);
    grad = grad / broadcast_in_dim(TakeDim(count, 0, index), grad.dims(), {0});
  }
  return ScatterDim(constant(c.builder(), 0, {grad.dtype(), c.out().dims}), 0, index, grad, Add);
}

// embedding_renorm(self, indices, max_norm, norm_type)
Value EmbeddingRenorm(Call& c) {
  Value weight = opmath(c.tensor(0));
  const int64_t rows = weight.dim(0), n = NumElements(c.tensor(1).dims());
  const double p = c.static_number(3);
  Value size = abs(weight);
  if (p == std::numeric_limits<double>::infinity()) {
    size = reduce_max(size, {1}, /*keepdim=*/true);
  } else if (p == 2) {
    size = sqrt(reduce_sum(size * size, {1}, /*keepdim=*/true));
  } else {
    size = power(reduce_sum(power(size, full_like(size, p)), {1}, true),
                 full_like(slice_dim(size, 1, 0, 1), 1 / p));
  }
  Value index = ScatterIndex(c, reshape(c.tensor(1), {n}), {rows, false, kOutOfRange});
  Value used = ScatterDim(constant(c.builder(), 0, {DType::kPred, {rows}}), 0, index,
                          constant(c.builder(), 1, {DType::kPred, {n}}), Replace);
  Value max_norm = convert(c.number(2), weight.dtype());
  Value scale = where(reshape(used, {rows, 1}) & (size > max_norm), max_norm / (size + 1e-7), 1.0);
  return weight * broadcast_to(scale, weight.dims());
}

LOWER("aten::embedding", Embedding);
LOWER("aten::embedding_dense_backward", EmbeddingDenseBackward);
LOWER("aten::embedding_renorm", EmbeddingRenorm, {.static_numbers = {3}});

}  // namespace
}  // namespace torch_tpu::ops
