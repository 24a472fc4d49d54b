// The matrix exponential, by scaling, a Taylor polynomial and squaring.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/linalg_lu.h"

namespace torch_tpu::ops {
namespace {

using State = std::span<const Value>;

constexpr int kDegree = 18;

// Largest 1-norm for which the Taylor polynomial of degree 18 is exact to working precision (Bader,
// Blanes and Casas, 2019).
double LargestNorm(DType dtype) {
  return RealType(dtype) == DType::kF64 ? 1.090863719290036 : 3.010066362817634;
}

// The number of halvings [b] that bring the 1-norm of a below LargestNorm; 0 for NaN.
Value Halvings(Value a) {
  Value norm = shlo::reduce_max(shlo::reduce_sum(shlo::abs(a), {1}), {1});
  Value ratio = norm / LargestNorm(a.dtype());
  Value halvings = shlo::ceil(shlo::log(shlo::where(ratio > 1.0, ratio, 1.0)) / std::log(2.0));
  return shlo::convert(shlo::min(halvings, shlo::full_like(halvings, 1100.0)), DType::kS32);
}

// The sum of a^k / k! up to k = 18: by Horner's rule in a^3, with quadratic coefficients.
Value Taylor(Value a) {
  std::array<double, kDegree + 1> inverse = {1.0};
  for (int k = 1; k <= kDegree; ++k) inverse[k] = inverse[k - 1] / k;
  Value identity = IdentityLike(a);
  Value square = FullProduct(a, a), cube = FullProduct(square, a);
  Value sum = inverse[kDegree] * identity;
  for (int k = kDegree - 3; k >= 0; k -= 3) {
    Value low = inverse[k] * identity + inverse[k + 1] * a + inverse[k + 2] * square;
    sum = low + (k == kDegree - 3 ? inverse[kDegree] * cube : FullProduct(cube, sum));
  }
  return sum;
}

Value ExpOf(Value a) {
  if (a.dim(1) == 1) return shlo::exponential(a);
  Builder& b = a.builder();
  Value halvings = Halvings(a);
  const auto along = [&](Value v) { return shlo::reshape(v, {a.dim(0), 1, 1}); };
  const auto spread = [&](Value v) { return shlo::broadcast_to(along(v), a.dims()); };
  // Powers of two in two steps, each of which is representable.
  Value half = shlo::convert(halvings, RealType(a.dtype())) * -0.5;
  Value two = shlo::full_like(half, 2.0);
  Value low = shlo::power(two, shlo::floor(half)), high = shlo::power(two, shlo::ceil(half));
  Value scaled = a * spread(shlo::convert(low, a.dtype())) * spread(shlo::convert(high, a.dtype()));
  const Value init[] = {shlo::scalar(b, int64_t{0}, DType::kS32), Taylor(scaled)};
  Value most = shlo::reduce_max(halvings, {0});
  return shlo::while_(
      init, [&](State s) { return s[0] < most; },
      [&](State s) {
        Value more = shlo::broadcast_to(along(halvings > s[0]), a.dims());
        return std::vector<Value>{s[0] + 1.0, shlo::where(more, FullProduct(s[1], s[1]), s[1])};
      })[1];
}

// self
Value MatrixExp(Call& c) {
  Value a = shlo::opmath(c.tensor(0));
  if (NumElements(a.dims()) == 0) return a;
  return SplitBatch(ExpOf(MergeBatch(a, 2)), BatchDims(a.dims(), 2));
}

std::vector<TensorType> CombinationShape(const Call& c) {
  TensorType type = c.tensor(0).type();
  type.dims.at(0) = c.tensor(1).dim(0);
  return {type};
}

// input[k, ...], coefficients[p, k] -> [p, ...]
Value LinearCombination(Call& c) {
  Value input = shlo::opmath(c.tensor(0));
  Value coefficients = shlo::convert(c.tensor(1), input.dtype());
  return shlo::dot_general(coefficients, input, {{}, {}, {1}, {0}}, shlo::Precision::kHighest);
}

LOWER("aten::linalg_matrix_exp", MatrixExp);
LOWER("aten::_compute_linear_combination", LinearCombination, {.shape = CombinationShape});

}  // namespace
}  // namespace torch_tpu::ops
