// Logical operators: each operand counts as true where it is not zero, in its own dtype.
#include "ops/pointwise.h"

namespace torch_tpu::ops {
namespace {

Value Truth(Call& c, int i) { return broadcast_to(c.tensor(i) != 0.0, c.out().dims); }

Value LogicalAnd(Call& c) { return Truth(c, 0) & Truth(c, 1); }
Value LogicalOr(Call& c) { return Truth(c, 0) | Truth(c, 1); }
Value LogicalXor(Call& c) { return Truth(c, 0) ^ Truth(c, 1); }

LOWER("aten::logical_and", LogicalAnd);
LOWER("aten::logical_or", LogicalOr);
LOWER("aten::logical_xor", LogicalXor);

}  // namespace
}  // namespace torch_tpu::ops
