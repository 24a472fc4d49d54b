// Gradients of activations, as autograd calls them. Where the forward is a choice by the input, so
// is the gradient, with the CPU kernel's decision at the boundary and for NaN.
#include <cmath>
#include <numbers>

#include "ops/activation.h"

namespace torch_tpu::ops {
namespace {

Value Conjugate(Value x) { return IsComplex(x.dtype()) ? complex(real(x), -imag(x)) : x; }

Value SigmoidBackward(Call& c) {  // sigmoid_backward(grad_output, output)
  Value y = ResultOperand(c, 1);
  return ResultOperand(c, 0) * Conjugate((1.0 - y) * y);
}

Value TanhBackward(Call& c) {  // tanh_backward(grad_output, output)
  Value y = ResultOperand(c, 1);
  return ResultOperand(c, 0) * Conjugate(1.0 - y * y);
}

Value LogitBackward(Call& c) {  // logit_backward(grad_output, self, eps)
  Value x = ResultOperand(c, 1);
  Value grad = ResultOperand(c, 0) / (x * (1.0 - x));
  if (!c.has(2)) return where((x < 0.0) | (x > 1.0), NAN, grad);
  Value eps = ResultNumber(c, 2);
  return where((x < eps) | (x > 1.0 - eps), 0.0, grad);
}

Value ThresholdBackward(Call& c) {  // threshold_backward(grad_output, self, threshold)
  return where(ResultOperand(c, 1) <= Bound(c, 2), 0.0, ResultOperand(c, 0));
}

Value LeakyReluBackward(
    Call& c) {  // leaky_relu_backward(grad_output, self, negative_slope, self_is_result)
  Value grad = ResultOperand(c, 0);
  return where(ResultOperand(c, 1) > 0.0, grad, grad * ResultNumber(c, 2));
}

Results PreluBackward(
    Call& c) {  // _prelu_kernel_backward(grad_output, self, weight) -> self, weight
  Value grad = ResultOperand(c, 0), x = ResultOperand(c, 1), weight = ResultOperand(c, 2);
  return {where(x > 0.0, grad, weight * grad), where(x > 0.0, 0.0, x * grad)};
}

// elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result)
Value EluBackward(Call& c) {
  Value grad = ResultOperand(c, 0), x = ResultOperand(c, 5);
  Value scale = ResultNumber(c, 2), input_scale = ResultNumber(c, 3);
  Value negative_scale = ResultNumber(c, 1) * scale;
  Value slope = c.boolean(4) ? x + negative_scale : exponential(x * input_scale) * negative_scale;
  return where(x <= 0.0, grad * slope * input_scale, grad * scale);
}

Value GeluTanhSlope(Value x) {
  constexpr double kBeta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  constexpr double kCubic = 0.044715;
  Value square = x * x;
  Value y = tanh((x + square * x * kCubic) * kBeta);
  Value inner_slope = (square * (3.0 * kCubic) + 1.0) * kBeta;
  return (y + 1.0) * 0.5 + x * 0.5 * (1.0 - y * y) * inner_slope;
}

Value GeluSlope(Value x) {
  constexpr double kDensity = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  Value cdf = (erf(x * (1.0 / std::numbers::sqrt2)) + 1.0) * 0.5;
  return cdf + x * exponential(x * x * -0.5) * kDensity;
}

Value GeluBackward(Call& c) {  // gelu_backward(grad_output, self, approximate)
  Value x = ResultOperand(c, 1);
  return ResultOperand(c, 0) * (c.string(2) == "tanh" ? GeluTanhSlope(x) : GeluSlope(x));
}

Value SiluBackward(Call& c) {  // silu_backward(grad_output, self)
  Value x = ResultOperand(c, 1), gate = logistic(x);
  return ResultOperand(c, 0) * (gate * (x * (1.0 - gate) + 1.0));
}

Value MishBackward(Call& c) {  // mish_backward(grad_output, self)
  Value x = ResultOperand(c, 1), t = tanh(Softplus(x));
  return ResultOperand(c, 0) * (t + x * logistic(x) * (1.0 - t * t));
}

Value HardtanhBackward(Call& c) {  // hardtanh_backward(grad_output, self, min_val, max_val)
  Value x = ResultOperand(c, 1);
  return where((x <= Bound(c, 2)) | (x >= Bound(c, 3)), 0.0, ResultOperand(c, 0));
}

Value HardsigmoidBackward(Call& c) {  // hardsigmoid_backward(grad_output, self)
  Value x = ResultOperand(c, 1);
  return where((x > -3.0) & (x < 3.0), ResultOperand(c, 0) / 6.0, 0.0);
}

Value HardswishBackward(Call& c) {  // hardswish_backward(grad_output, self)
  Value grad = ResultOperand(c, 0), x = ResultOperand(c, 1);
  return where(x <= -3.0, 0.0, where(x < 3.0, grad * (x / 3.0 + 0.5), grad));
}

Value ShrinkBackward(
    Call& c) {  // hardshrink_backward, softshrink_backward(grad_output, self, lambd)
  Value x = ResultOperand(c, 1), bound = Bound(c, 2);
  return where((x >= -bound) & (x <= bound), 0.0, ResultOperand(c, 0));
}

Value SoftplusBackward(Call& c) {  // softplus_backward(grad_output, self, beta, threshold)
  Value grad = ResultOperand(c, 0), scaled = ResultOperand(c, 1) * ResultNumber(c, 2);
  return where(scaled > ResultNumber(c, 3), grad, grad * logistic(scaled));
}

Value LogSigmoidBackward(Call& c) {  // log_sigmoid_backward(grad_output, self, buffer)
  return ResultOperand(c, 0) * logistic(-ResultOperand(c, 1));
}

Value GluBackward(Call& c) {  // glu_backward(grad_output, self, dim)
  Value grad = shlo::opmath(c.tensor(0)), x = shlo::opmath(c.tensor(1));
  int64_t dim = shlo::wrap_dim(c.integer(2), x.rank());
  int64_t half = x.dim(dim) / 2;
  Value value = slice_dim(x, dim, 0, half);
  Value gate = logistic(slice_dim(x, dim, half, 2 * half));
  Value gated = grad * gate;
  Value parts[] = {gated, gated * (1.0 - gate) * value};
  return concatenate(parts, dim);
}

// glu_jvp(glu, self, d_self, dim): how glu = value * sigmoid(gate) changes along d_self.
Value GluJvp(Call& c) {
  Value glu = shlo::opmath(c.tensor(0)), x = shlo::opmath(c.tensor(1)),
        dx = shlo::opmath(c.tensor(2));
  int64_t dim = shlo::wrap_dim(c.integer(3), x.rank());
  int64_t half = x.dim(dim) / 2;
  Value gate = logistic(slice_dim(x, dim, half, 2 * half));
  Value d_value = slice_dim(dx, dim, 0, half), d_gate = slice_dim(dx, dim, half, 2 * half);
  return d_value * gate + glu * (1.0 - gate) * d_gate;
}

// glu_backward_jvp(grad_x, grad_glu, x, dgrad_glu, dx, dim): how glu_backward changes along
// (dgrad_glu, dx).
Value GluBackwardJvp(Call& c) {
  Value grad = shlo::opmath(c.tensor(1)), x = shlo::opmath(c.tensor(2));
  Value d_grad = shlo::opmath(c.tensor(3)), dx = shlo::opmath(c.tensor(4));
  int64_t dim = shlo::wrap_dim(c.integer(5), x.rank());
  int64_t half = x.dim(dim) / 2;
  const auto first = [&](Value v) { return slice_dim(v, dim, 0, half); };
  const auto second = [&](Value v) { return slice_dim(v, dim, half, 2 * half); };
  Value gate = logistic(second(x)), slope = gate * (1.0 - gate), d_gate = slope * second(dx);
  Value d_slope = (1.0 - gate * 2.0) * d_gate;
  Value parts[] = {d_grad * gate + grad * d_gate,
                   (d_grad * first(x) + grad * first(dx)) * slope + grad * first(x) * d_slope};
  return concatenate(parts, dim);
}

std::vector<TensorType> GluJvpShape(const Call& c) { return {c.tensor(0).type()}; }

LOWER("aten::sigmoid_backward", SigmoidBackward);
LOWER("aten::tanh_backward", TanhBackward);
LOWER("aten::logit_backward", LogitBackward);
LOWER("aten::threshold_backward", ThresholdBackward);
LOWER("aten::leaky_relu_backward", LeakyReluBackward);
LOWER("aten::_prelu_kernel_backward", PreluBackward);
LOWER("aten::elu_backward", EluBackward);
LOWER("aten::gelu_backward", GeluBackward);
LOWER("aten::silu_backward", SiluBackward);
LOWER("aten::mish_backward", MishBackward);
LOWER("aten::hardtanh_backward", HardtanhBackward);
LOWER("aten::hardsigmoid_backward", HardsigmoidBackward);
LOWER("aten::hardswish_backward", HardswishBackward);
LOWER("aten::hardshrink_backward", ShrinkBackward);
LOWER("aten::softshrink_backward", ShrinkBackward);
LOWER("aten::softplus_backward", SoftplusBackward);
LOWER("aten::log_sigmoid_backward", LogSigmoidBackward);
LOWER("aten::glu_backward", GluBackward);
LOWER("aten::glu_jvp", GluJvp, {.shape = GluJvpShape});
LOWER("aten::glu_backward_jvp", GluBackwardJvp, {.shape = GluJvpShape});

}  // namespace
}  // namespace torch_tpu::ops
