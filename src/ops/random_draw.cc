// Random bits to numbers.
#include <cmath>
#include <numbers>

#include "ops/random.h"

namespace torch_tpu::ops {
namespace {

// Bits of the significand, the hidden one included.
int SignificandBits(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 53;
    case DType::kF32:
      return 24;
    case DType::kF16:
      return 11;
    case DType::kBF16:
      return 8;
    default:
      return 3;  // the float8 kinds have 3 or 4
  }
}

// The `bits` highest of random bits as a whole number in a float dtype.
Value TopBits(Call& c, int bits, DType dtype, const Dims& dims) {
  bool wide = dtype == DType::kF64;
  Value random = RandomBits(c, wide ? DType::kU64 : DType::kU32, dims);
  return convert(shift_right_logical(random, full_like(random, (wide ? 64 : 32) - bits)), dtype);
}

}  // namespace

Value RandomBits(Call& c, DType dtype, const Dims& dims) {
  return rng_bit_generator(c.rng_state(), {dtype, dims}).second;
}

Value UniformUnit(Call& c, DType as, const Dims& dims) {
  int bits = SignificandBits(as);
  return TopBits(c, bits, shlo::opmath_dtype(as), dims) * std::ldexp(1.0, -bits);
}

// (2k + 1) / 2^bits needs no rounding: neither 0 nor 1 can come out.
Value UniformOpen(Call& c, DType dtype, const Dims& dims) {
  int bits = SignificandBits(dtype);
  return (TopBits(c, bits - 1, dtype, dims) * 2.0 + 1.0) * std::ldexp(1.0, -bits);
}

Value StandardNormal(Call& c, DType dtype, const Dims& dims) {
  return erf_inv(UniformOpen(c, dtype, dims) * 2.0 - 1.0) * std::numbers::sqrt2;
}

Value StandardExponential(Call& c, DType dtype, const Dims& dims) {
  return -log(UniformOpen(c, dtype, dims));
}

}  // namespace torch_tpu::ops
