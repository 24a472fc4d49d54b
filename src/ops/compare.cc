// Comparisons, in the promoted dtype of both sides.
#include "ops/pointwise.h"

namespace torch_tpu::ops {
namespace {

template <shlo::Direction kDirection>
Value Compare(Call& c) {
  return compare(CommonOperand(c, 0), CommonOperand(c, 1), kDirection);
}

LOWER("aten::eq", Compare<shlo::Direction::kEq>);
LOWER("aten::ne", Compare<shlo::Direction::kNe>);
LOWER("aten::lt", Compare<shlo::Direction::kLt>);
LOWER("aten::le", Compare<shlo::Direction::kLe>);
LOWER("aten::gt", Compare<shlo::Direction::kGt>);
LOWER("aten::ge", Compare<shlo::Direction::kGe>);

}  // namespace
}  // namespace torch_tpu::ops
