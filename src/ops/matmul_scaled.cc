// Matrix products of float8 and int8 factors with scales, computed in float32.
#include "ops/matmul.h"
#include "ops/pointwise.h"

namespace torch_tpu::ops {
namespace {

// a[m, k] b[k, n] in float32, where the scales are numbers or belong to rows of a and columns of b.
struct Scaled {
  Value a, b, scale_a, scale_b;
};

Value Product(const Call& c, const Scaled& s) {
  const auto wide = [](Value v) { return convert(v, DType::kF32); };
  Value y = Dot(c, wide(s.a), wide(s.b), {{}, {}, {1}, {0}});
  const auto spread = [&](Value scale) {
    if (NumElements(scale.dims()) == 1) scale = reshape(scale, {});
    return shlo::broadcast_to(wide(scale), y.dims());
  };
  return y * spread(s.scale_a) * spread(s.scale_b);
}

Value WithBias(const Call& c, Value y, int bias) {
  if (!c.has(bias)) return y;
  return y + shlo::broadcast_to(convert(c.tensor(bias), y.dtype()), y.dims());
}

// A float8 result saturates where its dtype has no infinity (f8E4M3FNUZ too, unlike a conversion).
Value Saturated(const Call& c, Value y) {
  if (DTypeSize(c.out().dtype) != 1 || c.out().dtype == DType::kF8E5M2) return y;
  const double most = LargestFinite(c.out().dtype);
  return clamp(full_like(y, -most), y, full_like(y, most));
}

// self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum
Value ScaledMm(Call& c) {
  Value y = Product(c, {c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(3)});
  y = WithBias(c, y, 4);
  // Only a float8 result is scaled.
  if (!c.has(5) || DTypeSize(c.out().dtype) != 1) return Saturated(c, y);
  return Saturated(c, y * reshape(convert(c.tensor(5), y.dtype()), {}));
}

// self, mat2, scale_a[], recipe_a, swizzle_a, scale_b[], recipe_b, swizzle_b, bias, out_dtype, ...
Value ScaledMmV2(Call& c) {
  constexpr int64_t kRowWise = 1;  // 0: one scale for the tensor; others scale blocks
  for (int recipe : {3, 6}) {
    const Dims given = c.ints(recipe);
    if (given.size() != 1 || given[0] > kRowWise) {
      throw shlo::BuildError(c.name() + ": only one scale a tensor or a row is supported");
    }
  }
  Value y = Product(c, {c.tensor(0), c.tensor(1), c.tensors(2)[0], c.tensors(5)[0]});
  return Saturated(c, WithBias(c, y, 8));
}

// _weight_int8pack_mm(self[m, k], mat2[n, k], scales[n])
Value Int8PackMm(Call& c) {
  Value y = Dot(c, c.tensor(0), convert(c.tensor(1), c.tensor(0).dtype()), {{}, {}, {1}, {1}});
  return y * shlo::broadcast_to(convert(c.tensor(2), y.dtype()), y.dims());
}

LOWER("aten::_scaled_mm", ScaledMm, {.precision = true});
LOWER("aten::_scaled_mm_v2", ScaledMmV2, {.precision = true});
LOWER("aten::_weight_int8pack_mm", Int8PackMm, {.precision = true});

}  // namespace
}  // namespace torch_tpu::ops
