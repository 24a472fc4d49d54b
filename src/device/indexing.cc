// What PyTorch's index kernels do before they gather.
#include "device/indexing.h"

#include <ATen/Functions.h>

namespace torch_tpu::device {
namespace {

using Indices = c10::List<std::optional<at::Tensor>>;

bool IsMask(const at::Tensor& index) {
  return index.scalar_type() == at::kBool || index.scalar_type() == at::kByte;
}

bool IsPresent(const std::optional<at::Tensor>& index) { return index && index->defined(); }

void CheckMaskShape(const at::Tensor& mask, const at::Tensor& self, int64_t dim) {
  for (int64_t d = 0; d < mask.dim(); ++d) {
    TORCH_CHECK_INDEX(dim + d < self.dim() && mask.size(d) == self.size(dim + d),
                      "The shape of the mask ", mask.sizes(), " at index ", d,
                      " does not match the shape of the indexed tensor ", self.sizes(),
                      " at index ", dim + d);
  }
  // A 0-dim mask adds a dimension of size 0 or 1; PyTorch handles it before the kernel.
  TORCH_CHECK_INDEX(mask.dim() > 0,
                    "boolean indices of zero dimensions must be expanded before indexing");
}

// The only index, when it is a mask; `dim` is the dimension that it begins at.
std::optional<at::Tensor> LoneMask(const Indices& indices, int64_t* dim) {
  std::optional<at::Tensor> found;
  for (size_t k = 0; k < indices.size(); ++k) {
    const std::optional<at::Tensor> index = indices.get(k);
    if (!IsPresent(index)) continue;
    if (found || !IsMask(*index)) return std::nullopt;
    found = index;
    *dim = static_cast<int64_t>(k);
  }
  return found;
}

int IndicesPosition(const OpInfo& info) {
  for (size_t i = 0; i < info.args.size(); ++i) {
    if (info.args[i].kind == ArgKind::kOptTensorList) return static_cast<int>(i);
  }
  return -1;
}

const c10::Device kDevice(c10::DeviceType::PrivateUse1, 0);

}  // namespace

std::optional<CountedDim> PrepareIndices(const OpInfo& info, torch::jit::Stack* stack) {
  const size_t first = stack->size() - info.args.size();
  c10::IValue& argument = (*stack)[first + IndicesPosition(info)];
  const at::Tensor& self = (*stack)[first].toTensor();
  const Indices indices = argument.toOptionalTensorList();
  std::optional<CountedDim> counted;
  int64_t lone_dim = 0;
  const bool lone = info.form == Form::kFunctional && info.returns.size() == 1 &&
                    info.num_fresh_returns == 1 && info.args.size() == 2 &&
                    LoneMask(indices, &lone_dim).has_value();
  Indices prepared;
  bool changed = false;
  for (size_t k = 0; k < indices.size(); ++k) {
    std::optional<at::Tensor> index = indices.get(k);
    if (!IsPresent(index)) {
      prepared.push_back(std::nullopt);
      continue;
    }
    if (!index->device().is_privateuseone()) {
      index = index->to(kDevice);
      changed = true;
    }
    if (!IsMask(*index)) {
      prepared.push_back(index);
      continue;
    }
    CheckMaskShape(*index, self, static_cast<int64_t>(prepared.size()));
    at::Tensor rows = at::nonzero(*index);
    if (lone && index->numel() > 0) {
      // nonzero's result is a view of one row for every element of the mask, in-range ones.
      counted = CountedDim{lone_dim, rows.size(0)};
      rows = rows.as_strided({index->numel(), rows.size(1)}, rows.strides());
    }
    for (auto& column : rows.unbind(1)) prepared.push_back(column);
    changed = true;
  }
  if (changed) argument = prepared;
  return counted;
}

bool FillThroughMask(const OpInfo& info, torch::jit::Stack* stack) {
  if (info.form == Form::kOut || info.args.size() < 4) return false;
  const size_t first = stack->size() - info.args.size();
  const int position = IndicesPosition(info);
  const at::Tensor self = (*stack)[first].toTensor();
  const at::Tensor values = (*stack)[first + position + 1].toTensor();
  const bool accumulate = (*stack)[first + position + 2].toBool();
  if (accumulate || values.dim() != 0 || values.scalar_type() != self.scalar_type()) return false;
  int64_t dim = 0;
  std::optional<at::Tensor> mask =
      LoneMask((*stack)[first + position].toOptionalTensorList(), &dim);
  if (!mask || mask->dim() == 0) return false;
  CheckMaskShape(*mask, self, dim);
  at::Tensor wide = mask->to(kDevice).to(at::kBool);
  for (int64_t d = dim + mask->dim(); d < self.dim(); ++d) wide = wide.unsqueeze(-1);
  at::Tensor result = info.form == Form::kFunctional ? self.masked_fill(wide, values)
                                                     : self.masked_fill_(wide, values);
  stack->resize(first);
  stack->emplace_back(std::move(result));
  return true;
}

}  // namespace torch_tpu::device
