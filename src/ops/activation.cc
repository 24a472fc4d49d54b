// Activations.
#include "ops/activation.h"

#include <numbers>

namespace torch_tpu::ops {
namespace {

Value Relu(Call& c) {
  Value x = ResultOperand(c, 0);
  return max(x, full_like(x, 0.0));
}

Value LeakyRelu(Call& c) {  // leaky_relu(self, negative_slope)
  Value x = ResultOperand(c, 0);
  return where(x > 0.0, x, x * ResultNumber(c, 1));
}

Value PreluKernel(Call& c) {  // _prelu_kernel(self, weight)
  Value x = ResultOperand(c, 0);
  return where(x > 0.0, x, ResultOperand(c, 1) * x);
}

Value Elu(Call& c) {  // elu(self, alpha, scale, input_scale)
  const auto times = [&](Value v, int i) { return c.number_is(i, 1) ? v : v * ResultNumber(c, i); };
  Value x = ResultOperand(c, 0);
  Value positive = times(x, 2);
  Value negative = exponential_minus_one(times(x, 3));
  // PyTorch multiplies the two numbers first.
  negative = c.number_is(1, 1) ? times(negative, 2) : negative * times(ResultNumber(c, 1), 2);
  return where(x <= 0.0, negative, positive);
}

Value Gelu(Call& c) {  // gelu(self, approximate)
  Value x = ResultOperand(c, 0);
  if (c.string(1) != "none" && c.string(1) != "tanh") {
    throw shlo::BuildError(c.name() + ": approximate argument must be either none or tanh.");
  }
  if (c.string(1) == "tanh") {
    Value inner = (x + x * x * x * 0.044715) * (std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
    return x * 0.5 * (tanh(inner) + 1.0);
  }
  return x * 0.5 * (erf(x * (1.0 / std::numbers::sqrt2)) + 1.0);
}

Value Silu(Call& c) {
  Value x = ResultOperand(c, 0);
  return x * logistic(x);
}

Value Mish(Call& c) {
  Value x = ResultOperand(c, 0);
  return x * tanh(Softplus(x));
}

Value Hardtanh(Call& c) {  // hardtanh(self, min_val, max_val)
  return min(max(ResultOperand(c, 0), ResultNumber(c, 1)), ResultNumber(c, 2));
}

// clamp(x + 3, 0, 6) / 6
Value HardGate(Value x) { return min(max(x + 3.0, full_like(x, 0.0)), full_like(x, 6.0)) / 6.0; }

Value Hardsigmoid(Call& c) { return HardGate(ResultOperand(c, 0)); }

Value Hardswish(Call& c) {
  Value x = ResultOperand(c, 0);
  return x * HardGate(x);
}

Value Hardshrink(Call& c) {  // hardshrink(self, lambd)
  Value x = ResultOperand(c, 0), bound = Bound(c, 1);
  return where((x >= -bound) & (x <= bound), 0.0, x);
}

Value Softshrink(Call& c) {  // softshrink(self, lambd); the inner part is 0 but for NaN
  Value x = ResultOperand(c, 0), bound = ResultNumber(c, 1);
  return where(x > bound, x - bound, where(x < -bound, x + bound, x * 0.0));
}

Value SoftplusWithThreshold(Call& c) {  // softplus(self, beta, threshold)
  Value x = ResultOperand(c, 0), beta = ResultNumber(c, 1);
  Value scaled = x * beta;
  return where(scaled > ResultNumber(c, 2), x, log_plus_one(exponential(scaled)) / beta);
}

Value Threshold(Call& c) {  // threshold(self, threshold, value)
  Value x = ResultOperand(c, 0);
  return where(x <= ResultNumber(c, 1), ResultNumber(c, 2), x);
}

// log_sigmoid_forward(self) -> output, exp(-|x|). The backward here needs no buffer, and some
// devices have an empty one.
Results LogSigmoid(Call& c) {
  Value x = ResultOperand(c, 0);
  Value buffer = exponential(-abs(x));
  Value output = min(x, full_like(x, 0.0)) - log_plus_one(buffer);
  if (c.out(1).dims != c.out(0).dims) buffer = constant(c.builder(), 0, c.out(1));
  return {output, buffer};
}

Value Glu(Call& c) {  // glu(self, dim)
  Value x = shlo::opmath(c.tensor(0));
  int64_t dim = shlo::wrap_dim(c.integer(1), x.rank());
  int64_t half = x.dim(dim) / 2;
  Value value = slice_dim(x, dim, 0, half), gate = slice_dim(x, dim, half, 2 * half);
  return value * logistic(gate);
}

LOWER("aten::relu", Relu);
LOWER("aten::leaky_relu", LeakyRelu);
LOWER("aten::_prelu_kernel", PreluKernel);
LOWER("aten::elu", Elu);
LOWER("aten::gelu", Gelu);
LOWER("aten::silu", Silu);
LOWER("aten::mish", Mish);
LOWER("aten::hardtanh", Hardtanh);
LOWER("aten::hardsigmoid", Hardsigmoid);
LOWER("aten::hardswish", Hardswish);
LOWER("aten::hardshrink", Hardshrink);
LOWER("aten::softshrink", Softshrink);
LOWER("aten::softplus", SoftplusWithThreshold);
LOWER("aten::threshold", Threshold);
LOWER("aten::log_sigmoid_forward", LogSigmoid);
LOWER("aten::glu", Glu);

}  // namespace
}  // namespace torch_tpu::ops
