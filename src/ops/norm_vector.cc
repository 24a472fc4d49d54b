// Vector norms over dims, and renorm.
#include <cmath>

#include "ops/norm.h"

namespace torch_tpu::ops {
namespace {

Dims WrapAll(std::optional<Dims> dims, int64_t rank) {
  if (rank == 0) return {};
  if (!dims || dims->empty()) return DimRange(0, rank);
  for (int64_t& d : *dims) d = shlo::wrap_dim(d, rank);
  return *dims;
}

// (sum |x|^p)^(1/p), and its limits at 0 and the infinities.
Value VectorNorm(Value x, double p, const Dims& dims, bool keepdim) {
  if (p == 2) {
    Value square = IsComplex(x.dtype())
                       ? shlo::real(x) * shlo::real(x) + shlo::imag(x) * shlo::imag(x)
                       : x * x;
    return shlo::sqrt(shlo::reduce_sum(square, dims, keepdim));
  }
  Value size = shlo::abs(x);
  if (std::isinf(p)) {
    return p > 0 ? shlo::reduce_max(size, dims, keepdim) : shlo::reduce_min(size, dims, keepdim);
  }
  if (p == 0) {
    return shlo::reduce_sum(shlo::convert(size != 0.0, size.dtype()), dims, keepdim);
  }
  if (p == 1) return shlo::reduce_sum(size, dims, keepdim);
  Value sum = shlo::reduce_sum(shlo::power(size, shlo::full_like(size, p)), dims, keepdim);
  return shlo::power(sum, shlo::full_like(sum, 1 / p));
}

Value Input(const Call& c, std::optional<DType> dtype) {
  Value x = c.tensor(0);
  return shlo::opmath(dtype ? shlo::convert(x, *dtype) : x);
}

double Order(const Call& c) { return c.has(1) ? c.static_number(1) : 2; }

// self, ord, dim, keepdim, dtype
Value LinalgVectorNorm(Call& c) {
  Value x = Input(c, c.opt_dtype(4));
  return VectorNorm(x, Order(c), WrapAll(c.opt_ints(2), x.rank()), c.boolean(3));
}

// self, p
Value NormAll(Call& c) {
  Value x = Input(c, std::nullopt);
  return VectorNorm(x, Order(c), DimRange(0, x.rank()), false);
}

// self, p, dtype
Value NormAllDtype(Call& c) {
  Value x = Input(c, c.opt_dtype(2));
  return VectorNorm(x, Order(c), DimRange(0, x.rank()), false);
}

// self, p, dim, maxnorm: slices along `dim` whose norm is greater are scaled down to maxnorm.
Value Renorm(Call& c) {
  Value x = Input(c, std::nullopt);
  Dims others = DimRange(0, x.rank());
  others.erase(others.begin() + shlo::wrap_dim(c.integer(2), x.rank()));
  Value norm = VectorNorm(x, Order(c), others, true);
  Value limit = shlo::broadcast_to(shlo::convert(c.number(3), norm.dtype()), norm.dims());
  Value factor = shlo::where(norm > limit, limit / (norm + 1e-7), 1.0);
  return x * Like(shlo::convert(factor, x.dtype()), x);
}

// _weight_norm_interface_backward(grad_w, saved_v, saved_g, saved_norms, dim) of
// w = v * (g / norm), norms over all dims but `dim` -> grads of v and g
Results WeightNormBackward(Call& c) {
  Value dw = shlo::opmath(c.tensor(0)), v = shlo::opmath(c.tensor(1));
  Value norm = shlo::convert(c.tensor(3), dw.dtype()), g = shlo::convert(c.tensor(2), dw.dtype());
  Dims others = DimRange(0, v.rank());
  others.erase(others.begin() + shlo::wrap_dim(c.integer(4), v.rank()));
  Value sums = shlo::reduce_sum(dw * v, others, true);
  Value dv = Like(g / norm, v) * (dw - v * Like(sums / (norm * norm), v));
  return {dv, sums / norm};
}

LOWER("aten::_weight_norm_interface_backward", WeightNormBackward);
LOWER("aten::linalg_vector_norm", LinalgVectorNorm, {.static_numbers = {1}});
LOWER("aten::norm.Scalar", NormAll, {.static_numbers = {1}});
LOWER("aten::norm.ScalarOpt_dtype", NormAllDtype, {.static_numbers = {1}});
LOWER("aten::norm.ScalarOpt_dim", LinalgVectorNorm, {.static_numbers = {1}});
LOWER("aten::norm.ScalarOpt_dim_dtype", LinalgVectorNorm, {.static_numbers = {1}});
LOWER("aten::renorm", Renorm, {.static_numbers = {1}});

}  // namespace
}  // namespace torch_tpu::ops
