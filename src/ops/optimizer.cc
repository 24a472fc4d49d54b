// Fused optimizer steps over lists of parameters.
#include "ops/call.h"

namespace torch_tpu::ops {
namespace {

// What all fused steps do around their formula.
class Step {
 public:
  Step(Call& c, bool maximize, int grad_scale, int found_inf)
      : c_(c),
        maximize_(maximize),
        scale_(c.opt_tensor(grad_scale)),
        found_inf_(c.opt_tensor(found_inf)) {}

  // The i-th gradient in `dtype`, unscaled and with the sign of a minimisation.
  Value Gradient(int i, DType dtype) const {
    Value g = Unscaled(i, dtype);
    return maximize_ ? -g : g;
  }
  // What the gradient's tensor holds afterwards.
  Value GradientOut(int i) const {
    Value old = c_.tensors(1)[i];
    return scale_ ? Kept(old, convert(Unscaled(i, shlo::opmath_dtype(old.dtype())), old.dtype()))
                  : old;
  }
  // `updated` in the dtype of `old`, or `old` when the gradients were not finite.
  Value Kept(Value old, Value updated) const {
    updated = convert(updated, old.dtype());
    if (!found_inf_) return updated;
    return select(reshape(*found_inf_, {}) == 1.0, old, updated);
  }

 private:
  Value Unscaled(int i, DType dtype) const {
    Value g = convert(c_.tensors(1)[i], dtype);
    return scale_ ? g / reshape(*scale_, {}) : g;
  }

  Call& c_;
  bool maximize_;
  std::optional<Value> scale_, found_inf_;
};

// A number, or a learning rate given as a tensor of one element, as rank 0.
Value Rate(const Call& c, int i) { return reshape(c.tensor(i), {}); }

// The result lists one after the other.
Results Joined(std::initializer_list<Results> lists) {
  Results all;
  for (const Results& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

enum class Decay { kL2, kDecoupled };

// _fused_adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2,
// weight_decay, eps, amsgrad, maximize, grad_scale?, found_inf?)
Results FusedAdam(Call& c, Decay decay) {
  const auto params = c.tensors(0), averages = c.tensors(2), squares = c.tensors(3),
             maxima = c.tensors(4), steps = c.tensors(5);
  const bool amsgrad = c.boolean(11), decays = !c.number_is(9, 0);
  const Step step(c, c.boolean(12), 13, 14);
  Results out[5];
  for (size_t i = 0; i < params.size(); ++i) {
    const int k = static_cast<int>(i);
    Value p = opmath(params[i]);
    auto number = [&](Value v) { return convert(v, p.dtype()); };
    Value lr = number(Rate(c, 6)), beta1 = number(c.number(7)), beta2 = number(c.number(8));
    Value g = step.Gradient(k, p.dtype());
    if (decays && decay == Decay::kL2) g = g + p * number(c.number(9));
    if (decays && decay == Decay::kDecoupled) p = p * (1.0 - lr * number(c.number(9)));
    Value m = opmath(averages[i]), v = opmath(squares[i]);
    m = m + (g - m) * (1.0 - beta1);
    v = v * beta2 + g * g * (1.0 - beta2);
    Value largest = amsgrad ? max(opmath(maxima[i]), v) : v;
    // The corrections in the step's own dtype: beta^step loses too much in half types.
    auto correction = [&](int position) {
      Value beta = c.number(position);
      return 1.0 - power(beta, convert(reshape(steps[i], {}), beta.dtype()));
    };
    Value root = sqrt(largest) / number(sqrt(correction(8))) + number(c.number(10));
    p = p - m / root * (lr / number(correction(7)));
    out[0].push_back(step.Kept(params[i], p));
    out[1].push_back(step.GradientOut(k));
    out[2].push_back(step.Kept(averages[i], m));
    out[3].push_back(step.Kept(squares[i], v));
    if (i < maxima.size()) out[4].push_back(amsgrad ? step.Kept(maxima[i], largest) : maxima[i]);
  }
  return Joined({out[0], out[1], out[2], out[3], out[4]});
}

Results FusedAdamL2(Call& c) { return FusedAdam(c, Decay::kL2); }
Results FusedAdamW(Call& c) { return FusedAdam(c, Decay::kDecoupled); }

// _fused_sgd(self, grads, momentum_buffer_list, weight_decay, momentum, lr, dampening, nesterov,
// maximize, is_first_step, grad_scale?, found_inf?)
Results FusedSgd(Call& c) {
  const auto params = c.tensors(0), buffers = c.tensors(2);
  const bool nesterov = c.boolean(7), first = c.boolean(9);
  const Step step(c, c.boolean(8), 10, 11);
  Results out[3];
  for (size_t i = 0; i < params.size(); ++i) {
    const int k = static_cast<int>(i);
    Value p = opmath(params[i]);
    auto number = [&](int position) { return convert(Rate(c, position), p.dtype()); };
    Value g = step.Gradient(k, p.dtype());
    if (!c.number_is(3, 0)) g = g + p * number(3);
    if (!buffers.empty()) {
      // On the first step the buffer holds nothing yet.
      Value b = first ? g : opmath(buffers[i]) * number(4) + g * (1.0 - number(6));
      g = nesterov ? g + b * number(4) : b;
      out[2].push_back(step.Kept(buffers[i], b));
    }
    out[0].push_back(step.Kept(params[i], p - g * number(5)));
    out[1].push_back(step.GradientOut(k));
  }
  return Joined({out[0], out[1], out[2]});
}

// _fused_adagrad(self, grads, state_sums, state_steps, lr, lr_decay, weight_decay, eps, maximize,
// grad_scale?, found_inf?)
Results FusedAdagrad(Call& c, bool steps_out) {
  const auto params = c.tensors(0), sums = c.tensors(2), steps = c.tensors(3);
  const Step step(c, c.boolean(8), 9, 10);
  Results out[3];
  for (size_t i = 0; i < params.size(); ++i) {
    const int k = static_cast<int>(i);
    Value p = opmath(params[i]);
    auto number = [&](int position) { return convert(Rate(c, position), p.dtype()); };
    Value g = step.Gradient(k, p.dtype());
    if (!c.number_is(6, 0)) g = g + p * number(6);
    Value count = convert(reshape(steps[i], {}), p.dtype());
    Value rate = number(4) / ((count - 1.0) * number(5) + 1.0);
    Value sum = opmath(sums[i]) + g * g;
    out[0].push_back(step.Kept(params[i], p - g / (sqrt(sum) + number(7)) * rate));
    out[1].push_back(step.GradientOut(k));
    out[2].push_back(step.Kept(sums[i], sum));
  }
  return Joined({out[0], out[1], out[2], steps_out ? steps : Results{}});
}

Results FusedAdagradNumber(Call& c) { return FusedAdagrad(c, true); }
// The overload with a tensor as learning rate does not return the steps.
Results FusedAdagradTensor(Call& c) { return FusedAdagrad(c, false); }

// The first `lists` arguments come back updated.
std::vector<TensorType> ListShapes(const Call& c, int lists) {
  std::vector<TensorType> types;
  for (int i = 0; i < lists; ++i) {
    for (const Value& v : c.tensors(i)) types.push_back(v.type());
  }
  return types;
}
std::vector<TensorType> ThreeLists(const Call& c) { return ListShapes(c, 3); }
std::vector<TensorType> FourLists(const Call& c) { return ListShapes(c, 4); }
std::vector<TensorType> FiveLists(const Call& c) { return ListShapes(c, 5); }

LOWER("aten::_fused_adam", FusedAdamL2, {.shape = FiveLists});
LOWER("aten::_fused_adamw", FusedAdamW, {.shape = FiveLists});
LOWER("aten::_fused_sgd", FusedSgd, {.shape = ThreeLists});
LOWER("aten::_fused_adagrad", FusedAdagradNumber, {.shape = FourLists});
LOWER("aten::_fused_adagrad.tensor_lr", FusedAdagradTensor, {.shape = ThreeLists});

}  // namespace
}  // namespace torch_tpu::ops
