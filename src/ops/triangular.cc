// tril and triu.
#include "ops/call.h"

namespace torch_tpu::ops {
namespace {

// Column minus row of the last two dims.
Value Offsets(Value x) {
  return index_like(x, x.rank() - 1, DType::kS32) - index_like(x, x.rank() - 2, DType::kS32);
}

// tril(self, diagonal)
Value Tril(Call& c) {
  Value x = c.tensor(0);
  return where(Offsets(x) <= static_cast<double>(c.integer(1)), x, 0.0);
}

Value Triu(Call& c) {
  Value x = c.tensor(0);
  return where(Offsets(x) >= static_cast<double>(c.integer(1)), x, 0.0);
}

LOWER("aten::tril", Tril);
LOWER("aten::triu", Triu);

}  // namespace
}  // namespace torch_tpu::ops
