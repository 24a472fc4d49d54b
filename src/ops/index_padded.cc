// Which operators return padded results.
#include "ops/index_padded.h"

namespace torch_tpu::ops {

std::vector<PaddedOutput> PaddedOutputs(std::string_view overload) {
  if (overload == "aten::nonzero" || overload == "aten::masked_select" ||
      overload == "aten::_unique") {
    return {{0}};
  }
  if (overload == "aten::_unique2") return {{0}, {2}};
  if (overload == "aten::unique_consecutive") return {{0, 3}, {2}};
  if (overload == "aten::unique_dim" || overload == "aten::unique_dim_consecutive")
    return {{0, 1}, {2}};
  return {};
}

}  // namespace torch_tpu::ops
