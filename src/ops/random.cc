// Filling a tensor with random numbers: uniform, normal, integers, Bernoulli and others. Draws are
// made in float64 for float64 results, else in float32. The in-place names stand where PyTorch has
// no functional sibling.
#include "ops/random.h"

#include <numbers>

#include "ops/pointwise.h"

namespace torch_tpu::ops {
namespace {

using shlo::broadcast_to;

// What a fill gives has the type of what it fills. Asking PyTorch's Meta kernels instead would
// import torch._dynamo: they are Python.
std::vector<TensorType> LikeSelf(const Call& c, bool integers, bool complex) {
  const DType dtype = c.tensor(0).dtype();
  const bool fits = IsComplex(dtype) ? complex
                    : IsFloat(dtype) ? DTypeSize(dtype) > 1
                                     : integers && dtype != DType::kPred;
  if (!fits) {
    throw shlo::BuildError(c.name() + ": not defined for dtype " + std::string(DTypeName(dtype)));
  }
  return {c.tensor(0).type()};
}
std::vector<TensorType> LikeFloat(const Call& c) { return LikeSelf(c, false, false); }
std::vector<TensorType> LikeFloatOrComplex(const Call& c) { return LikeSelf(c, false, true); }
std::vector<TensorType> LikeNumber(const Call& c) { return LikeSelf(c, true, false); }

// The dtype to draw in for the result.
DType DrawDType(const Call& c) {
  return RealType(c.out().dtype) == DType::kF64 ? DType::kF64 : DType::kF32;
}

Value Parameter(const Call& c, int i) { return convert(c.tensor(i), DrawDType(c)); }

// --- uniform -------------------------------------------------------------------------------------

// [from, to). A draw that rounds to `to` becomes `from`.
Value UniformOf(Call& c, DType dtype, const Dims& dims) {
  Value from = Parameter(c, 1), to = Parameter(c, 2);
  Value x = convert(UniformUnit(c, dtype, dims) * (to - from) + from, dtype);
  return where(x >= convert(to, dtype), convert(from, dtype), x);
}

// uniform(self, from, to); both parts of a complex number are of [from, to).
Value Uniform(Call& c) {
  const auto& out = c.out();
  if (!IsComplex(out.dtype)) return UniformOf(c, out.dtype, out.dims);
  Dims dims = out.dims;
  dims.insert(dims.begin(), 2);
  Value parts = UniformOf(c, RealType(out.dtype), dims);
  auto part = [&](int64_t i) { return squeeze(slice_dim(parts, 0, i, i + 1), 0); };
  return complex(part(0), part(1));
}

LOWER("aten::uniform", Uniform, {.random = true, .shape = LikeFloatOrComplex});
LOWER("aten::uniform_", Uniform, {.random = true, .shape = LikeFloatOrComplex});

// --- normal --------------------------------------------------------------------------------------

// A complex result holds independent parts of half the variance.
Value Normal(Call& c, Value mean, Value deviation) {
  const auto& out = c.out();
  if (!IsComplex(out.dtype)) {
    return StandardNormal(c, DrawDType(c), out.dims) * broadcast_to(deviation, out.dims) +
           broadcast_to(mean, out.dims);
  }
  Dims dims = out.dims;
  dims.insert(dims.begin(), 2);
  Value parts = StandardNormal(c, DrawDType(c), dims) * (deviation / std::numbers::sqrt2) + mean;
  auto part = [&](int64_t i) { return squeeze(slice_dim(parts, 0, i, i + 1), 0); };
  return complex(part(0), part(1));
}

Value NormalFill(Call& c) {
  return Normal(c, Parameter(c, 1), Parameter(c, 2));
}  // (self, mean, std)
Value NormalSample(Call& c) { return Normal(c, Parameter(c, 0), Parameter(c, 1)); }  // (mean, std)
Value LogNormal(Call& c) { return exponential(NormalFill(c)); }

LOWER("aten::normal", NormalSample, {.random = true});
LOWER("aten::normal_", NormalFill, {.random = true, .shape = LikeFloatOrComplex});
LOWER("aten::normal_functional", NormalFill, {.random = true, .shape = LikeFloatOrComplex});
LOWER("aten::log_normal", LogNormal, {.random = true, .shape = LikeFloat});
LOWER("aten::log_normal_", LogNormal, {.random = true, .shape = LikeFloat});

// --- other distributions
// ---------------------------------------------------------------------------

Value Exponential(Call& c) {  // exponential(self, lambd)
  return StandardExponential(c, DrawDType(c), c.out().dims) / Parameter(c, 1);
}

Value Cauchy(Call& c) {  // cauchy(self, median, sigma)
  Value angle = (UniformOpen(c, DrawDType(c), c.out().dims) - 0.5) * std::numbers::pi;
  return tan(angle) * Parameter(c, 2) + Parameter(c, 1);
}

Value Geometric(Call& c) {  // geometric(self, p): the number of trials to the first success
  return ceil(log(UniformOpen(c, DrawDType(c), c.out().dims)) / log_plus_one(-Parameter(c, 1)));
}

LOWER("aten::exponential", Exponential, {.random = true, .shape = LikeFloat});
LOWER("aten::exponential_", Exponential, {.random = true, .shape = LikeFloat});
LOWER("aten::cauchy", Cauchy, {.random = true, .shape = LikeFloat});
LOWER("aten::cauchy_", Cauchy, {.random = true, .shape = LikeFloat});
LOWER("aten::geometric", Geometric, {.random = true, .shape = LikeNumber});
LOWER("aten::geometric_", Geometric, {.random = true, .shape = LikeNumber});

// rrelu_with_noise_functional(self, noise, lower, upper, training) -> output, noise: the slope that
// each element got.
Results RreluWithNoise(Call& c) {
  Value x = ResultOperand(c, 0), lower = ResultNumber(c, 2), upper = ResultNumber(c, 3);
  if (!c.boolean(4)) return {where(x > 0.0, x, x * ((lower + upper) / 2.0)), c.tensor(1)};
  Value slope = UniformUnit(c, x.dtype(), x.dims()) * (upper - lower) + lower;
  Value noise = where(x <= 0.0, slope, 1.0);
  return {x * noise, noise};
}

LOWER("aten::rrelu_with_noise_functional", RreluWithNoise, {.random = true});

// --- Bernoulli and dropout
// ---------------------------------------------------------------------------

// i1 of `dims`, true with probability p (a number or a tensor of these dims).
Value Trials(Call& c, Value p, const Dims& dims) {
  Value unit = UniformUnit(c, DrawDType(c), dims);
  return unit < broadcast_to(convert(p, unit.dtype()), dims);
}

Value Bernoulli(Call& c) { return Trials(c, c.tensor(0), c.out().dims); }      // (p)
Value BernoulliFill(Call& c) { return Trials(c, c.tensor(1), c.out().dims); }  // (self, p)

LOWER("aten::bernoulli", Bernoulli, {.random = true});
LOWER("aten::bernoulli.p", BernoulliFill, {.random = true});
LOWER("aten::bernoulli.float", BernoulliFill, {.random = true});
LOWER("aten::bernoulli.Tensor", BernoulliFill, {.random = true});
LOWER("aten::bernoulli_", BernoulliFill, {.random = true});

Results NativeDropout(Call& c) {  // native_dropout(input, p, train) -> output, mask
  Value x = shlo::opmath(c.tensor(0));
  if (!c.boolean_or(2, true)) return {x, BoolLike(x, true)};
  Value keep = 1.0 - convert(c.number(1), DrawDType(c));
  Value mask = Trials(c, keep, x.dims());
  Value scale = convert(where(keep == 0.0, 0.0, 1.0 / keep), x.dtype());
  return {x * convert(mask, x.dtype()) * scale, mask};
}

Value NativeDropoutBackward(Call& c) {  // native_dropout_backward(grad_output, mask, scale)
  return ResultOperand(c, 0) * ResultOperand(c, 1) * ResultNumber(c, 2);
}

LOWER("aten::native_dropout", NativeDropout, {.random = true});
LOWER("aten::native_dropout_backward", NativeDropoutBackward);

}  // namespace
}  // namespace torch_tpu::ops
