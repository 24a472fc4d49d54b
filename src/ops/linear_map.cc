// Products of spatial dims with small matrices.
#include "ops/linear_map.h"

namespace torch_tpu::ops {

Value ApplyMaps(Value x, std::span<const Value> maps, bool adjoint) {
  // The contracted dim leaves and its replacement comes last: after as many steps as maps, all are
  // in place.
  const int64_t dim = x.rank() - static_cast<int64_t>(maps.size());
  for (Value map : maps) {
    x = shlo::dot_general(x, map, {{}, {}, {dim}, {adjoint ? 0 : 1}}, shlo::Precision::kHighest);
  }
  return x;
}

Value MapRows(Builder& b, int64_t out, int64_t in, DType dtype) {
  return shlo::iota(b, 0, {dtype, {out, in}});
}

Value MapColumns(Builder& b, int64_t out, int64_t in, DType dtype) {
  return shlo::iota(b, 1, {dtype, {out, in}});
}

}  // namespace torch_tpu::ops
