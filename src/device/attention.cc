// scaled_dot_product_attention takes the fused operator of this device instead of the composite
// one.
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <torch/library.h>

namespace torch_tpu::device {
namespace {

// The fused lowering needs equal head dims of query and key and no tensor of zero elements; the
// composite takes the rest.
int64_t Choose(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
               const std::optional<at::Tensor>& mask, double /*dropout*/, bool /*is_causal*/,
               std::optional<double> /*scale*/, bool enable_gqa) {
  const bool fits = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && !enable_gqa &&
                    query.numel() > 0 && key.numel() > 0 && value.numel() > 0 &&
                    query.size(0) == key.size(0) && key.size(0) == value.size(0) &&
                    query.size(1) == key.size(1) && key.size(1) == value.size(1) &&
                    query.is_floating_point() &&
                    (!mask || !mask->defined() || !mask->requires_grad());
  return static_cast<int64_t>(fits ? sdp::SDPBackend::overrideable : sdp::SDPBackend::math);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("_fused_sdp_choice", TORCH_FN(Choose)); }

}  // namespace
}  // namespace torch_tpu::device

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &torch_tpu::device::Choose);
}  // namespace at::native
