// Matrix operators that are made of others: torch.cholesky, and adding a linear combination.
#include <ATen/Functions.h>
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/Resize.h>
#include <torch/library.h>

namespace torch_tpu::device {
namespace {

at::Tensor checked_cholesky(const at::Tensor& self, bool upper) {
  if (self.numel() == 0) return at::empty_like(self, at::MemoryFormat::Contiguous);
  at::native::squareCheckInputs(self, "cholesky");
  auto [factor, info] = at::linalg_cholesky_ex(self, upper, /*check_errors=*/false);
  at::_linalg_check_errors(info, "cholesky", /*is_matrix=*/self.dim() == 2);
  return factor;
}

at::Tensor& cholesky_out(const at::Tensor& self, bool upper, at::Tensor& out) {
  at::native::checkSameDevice("cholesky", out, self);
  at::native::checkLinalgCompatibleDtype("cholesky", out, self);
  const at::Tensor factor = checked_cholesky(self, upper);
  at::native::resize_output(out, factor.sizes());
  return out.copy_(factor);
}

// The out= form adds to what `out` holds.
at::Tensor& add_linear_combination(const at::Tensor& input, const at::Tensor& coefficients,
                                   at::Tensor& out) {
  return out.add_(at::_compute_linear_combination(input, coefficients));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("cholesky", TORCH_FN(checked_cholesky));
  m.impl("cholesky.out", TORCH_FN(cholesky_out));
  m.impl("_compute_linear_combination.out", TORCH_FN(add_linear_combination));
}

}  // namespace torch_tpu::device
