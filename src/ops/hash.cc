// hash_tensor: the exclusive or of the bits of all elements.
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

// Elements as 64 bits: floats as float64, integers sign-extended.
Value Bits(Value x) {
  if (IsFloat(x.dtype())) return bitcast_convert(convert(x, DType::kF64), DType::kU64);
  if (x.dtype() == DType::kU64) return x;
  return bitcast_convert(convert(x, DType::kS64), DType::kU64);
}

// hash_tensor(self, dim, keepdim, mode)
Value HashTensor(Call& c) {
  Value bits = Bits(c.tensor(0));
  Value zero = shlo::scalar(c.builder(), int64_t{0}, DType::kU64);
  return ToOut(c, shlo::reduce(bits, zero, ReduceDims(c, 1, bits),
                               [](Value a, Value b) { return xor_(a, b); }));
}

LOWER("aten::hash_tensor", HashTensor);

}  // namespace
}  // namespace torch_tpu::ops
