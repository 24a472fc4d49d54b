// Gradients of max, min, median, nanmedian and prod that read no value.
//
// PyTorch's formulas ask the host whether a value is NaN or an element zero: a wait in eager mode,
// and no part of a captured program. Its formulas for tensor subclasses do without, and are used
// wherever PyTorch sees one (torch.func, torch.compile, dispatch modes), as its own are for forward
// derivatives. This file has the rest.
#include <ATen/Functions.h>
#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/max_ops.h>
#include <ATen/ops/median_ops.h>
#include <ATen/ops/min_ops.h>
#include <ATen/ops/nanmedian_ops.h>
#include <ATen/ops/prod_ops.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace torch_tpu::device {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

bool NeedsGradient(const at::Tensor& self) {
  return at::GradMode::is_enabled() && self.requires_grad() && !at::isTensorSubclassLike(self) &&
         !self._fw_grad(/*level=*/0).defined();
}

// The keys that lead to PyTorch's own autograd kernel: it is registered for all backends.
DispatchKeySet OwnKeys(DispatchKeySet keys) {
  return (keys - DispatchKeySet(DispatchKey::AutogradPrivateUse1)).add(DispatchKey::AutogradOther);
}

// An operator that picks one element; equal ones share its gradient. NaN equals NaN.
template <class Operator>
struct Pick : torch::autograd::Function<Pick<Operator>> {
  static Variable forward(AutogradContext* context, const at::Tensor& self) {
    at::AutoDispatchBelowADInplaceOrView below;
    at::Tensor value = Operator::call(self);
    context->save_for_backward({self, value});
    return value;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &self = saved[0], &value = saved[1];
    if (!grads[0].defined()) return {at::Tensor()};
    at::Tensor equal = at::eq(self, value);
    if (at::isFloatingType(self.scalar_type()))
      equal = at::logical_or(equal, at::logical_and(at::isnan(self), at::isnan(value)));
    return {at::where(equal, at::div(grads[0], equal.sum()), 0)};
  }

  static at::Tensor Kernel(DispatchKeySet keys, const at::Tensor& self) {
    return NeedsGradient(self) ? Pick::apply(self) : Operator::redispatch(OwnKeys(keys), self);
  }
};

// At each place the product of all other elements along `dim`.
at::Tensor ProductOfOthers(const at::Tensor& x, int64_t dim) {
  const int64_t n = x.size(dim);
  const auto before = [&](const at::Tensor& t) {
    return at::cat({at::ones_like(t.narrow(dim, 0, 1)), t.narrow(dim, 0, n - 1)}, dim).cumprod(dim);
  };
  return at::mul(before(x), before(x.flip(dim)).flip(dim));
}

using ProdOfAll = at::_ops::prod;
using ProdOfDim = at::_ops::prod_dim_int;

// Without `dim`, the product of all elements.
struct Product : torch::autograd::Function<Product> {
  static Variable forward(AutogradContext* context, const at::Tensor& self,
                          std::optional<int64_t> dim, bool keepdim,
                          std::optional<at::ScalarType> dtype) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({self});
    context->saved_data["dim"] = dim;
    context->saved_data["keepdim"] = keepdim;
    return dim ? ProdOfDim::call(self, *dim, keepdim, dtype) : ProdOfAll::call(self, dtype);
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    variable_list result(4);
    at::Tensor grad = grads[0];
    if (!grad.defined()) return result;
    const at::Tensor self = context->get_saved_variables()[0];
    const auto dim = context->saved_data["dim"].toOptional<int64_t>();
    at::Tensor x = self.to(grad.scalar_type());
    const bool whole = !dim || self.dim() == 0;
    if (whole) x = x.reshape({-1});
    if (!whole && !context->saved_data["keepdim"].toBool()) grad = grad.unsqueeze(*dim);
    if (x.numel() > 0) x = ProductOfOthers(x, whole ? 0 : *dim);
    at::Tensor mine = at::mul(grad, x.conj()).reshape(self.sizes());
    result[0] = mine.is_complex() && !self.is_complex() ? at::real(mine) : mine;
    return result;
  }
};

at::Tensor ProdKernel(DispatchKeySet keys, const at::Tensor& self,
                      std::optional<at::ScalarType> dtype) {
  if (!NeedsGradient(self)) return ProdOfAll::redispatch(OwnKeys(keys), self, dtype);
  return Product::apply(self, std::nullopt, false, dtype);
}

at::Tensor ProdDimKernel(DispatchKeySet keys, const at::Tensor& self, int64_t dim, bool keepdim,
                         std::optional<at::ScalarType> dtype) {
  if (!NeedsGradient(self)) return ProdOfDim::redispatch(OwnKeys(keys), self, dim, keepdim, dtype);
  return Product::apply(self, std::optional<int64_t>(dim), keepdim, dtype);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("max", TORCH_FN(Pick<at::_ops::max>::Kernel));
  m.impl("min", TORCH_FN(Pick<at::_ops::min>::Kernel));
  m.impl("median", TORCH_FN(Pick<at::_ops::median>::Kernel));
  m.impl("nanmedian", TORCH_FN(Pick<at::_ops::nanmedian>::Kernel));
  m.impl("prod", TORCH_FN(ProdKernel));
  m.impl("prod.dim_int", TORCH_FN(ProdDimKernel));
}

}  // namespace torch_tpu::device
