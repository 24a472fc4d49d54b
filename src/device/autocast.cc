// Which operators torch.autocast("tpu") runs in lower precision, in float32, or in the widest input
// type. The lists are those of the installed PyTorch, so they follow the release that this is built
// for.
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace torch_tpu::device {
namespace {

// The lists spell types without namespace.
using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;

#define LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define FLOAT32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define FLOAT32_SET_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)

// A sigmoid in half precision followed by a logarithm loses the loss; PyTorch refuses it on every
// device.
Tensor BannedBinaryCrossEntropy(const Tensor&, const Tensor&, const std::optional<Tensor>&,
                                int64_t) {
  TORCH_CHECK(
      false,
      "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast. Use "
      "binary_cross_entropy_with_logits or BCEWithLogitsLoss on the values before the sigmoid, or "
      "leave autocast "
      "for the loss.");
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  AT_FORALL_LOWER_PRECISION_FP(LOWER_PRECISION)
  AT_FORALL_FP32(FLOAT32)
  AT_FORALL_FP32_SET_OPT_DTYPE(FLOAT32_SET_DTYPE)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(PROMOTE)
  m.impl(TORCH_SELECTIVE_NAME("aten::binary_cross_entropy"), TORCH_FN(BannedBinaryCrossEntropy));
}

}  // namespace
}  // namespace torch_tpu::device
