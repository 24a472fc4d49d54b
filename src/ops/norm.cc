// Helpers of the normalisation families.
#include "ops/norm.h"

#include <numeric>

namespace torch_tpu::ops {

Dims DimRange(int64_t first, int64_t last) {
  Dims dims(static_cast<size_t>(last - first));
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

Value MeanOver(Value x, const Dims& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= x.dim(d);
  return shlo::reduce_sum(x, dims, true) / static_cast<double>(count);
}

Moments MomentsOver(Value x, const Dims& dims) {
  Value mean = MeanOver(x, dims);
  Value centered = x - Like(mean, x);
  return {mean, MeanOver(centered * centered, dims)};
}

Value NormalizeBackward(Value dx_hat, Value x_hat, Value rstd, const Dims& dims) {
  Value mean = MeanOver(dx_hat, dims), projection = MeanOver(dx_hat * x_hat, dims);
  return (dx_hat - Like(mean, x_hat) - x_hat * Like(projection, x_hat)) * Like(rstd, x_hat);
}

}  // namespace torch_tpu::ops
