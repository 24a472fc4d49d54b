// Tests of element bits, interned types and the memory account.
#include "graph/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace torch_tpu::graph {
namespace {

uint64_t Bits(double v, DType d) { return BitsOf(std::complex<double>(v, 0), d).lo; }

TEST(ScalarBits, KnownPatterns) {
  EXPECT_EQ(Bits(1.0, DType::kF32), 0x3F800000u);
  EXPECT_EQ(Bits(1.0, DType::kBF16), 0x3F80u);
  EXPECT_EQ(Bits(1.0, DType::kF16), 0x3C00u);
  EXPECT_EQ(Bits(-2.0, DType::kF8E5M2), 0xC0u);
  EXPECT_EQ(Bits(1.0, DType::kF8E4M3FN), 0x38u);
  EXPECT_EQ(Bits(448.0, DType::kF8E4M3FN), 0x7Eu);
  EXPECT_EQ(Bits(1.0, DType::kF8E4M3FNUZ), 0x40u);
  EXPECT_EQ(Bits(65504.0, DType::kF16), 0x7BFFu);
  EXPECT_EQ(Bits(65536.0, DType::kF16), 0x7C00u);          // infinity
  EXPECT_EQ(Bits(std::ldexp(1.0, -24), DType::kF16), 1u);  // smallest subnormal
  EXPECT_EQ(Bits(3.0, DType::kPred), 1u);
  EXPECT_EQ(Bits(-1.0, DType::kS8), 0xFFu);
  EXPECT_EQ(BitsOf(int64_t{-1}, DType::kU16).lo, 0xFFFFu);
}

TEST(ScalarBits, RoundsToNearestEven) {
  EXPECT_EQ(Bits(1.0 + 1.0 / 256, DType::kBF16), 0x3F80u);  // tie: down to even
  EXPECT_EQ(Bits(1.0 + 3.0 / 256, DType::kBF16), 0x3F82u);  // tie: up to even
  EXPECT_EQ(Bits(1.0 + 1.0 / 256 + 1e-4, DType::kBF16), 0x3F81u);
}

TEST(ScalarBits, IntegersKeepAllBits) {
  const int64_t big = (int64_t{1} << 53) + 1;  // no double holds it
  EXPECT_EQ(static_cast<int64_t>(BitsOf(big, DType::kS64).lo), big);
  EXPECT_EQ(BitsOf(int64_t{-1}, DType::kU64).lo, ~uint64_t{0});
}

TEST(ScalarBits, NumberOfInvertsBitsOf) {
  const double values[] = {0, 1, -2, 0.5, 0.15625};
  for (DType d : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kF8E4M3FN,
                  DType::kF8E5M2, DType::kF8E4M3FNUZ, DType::kF8E5M2FNUZ}) {
    for (double v : values) {
      if (d == DType::kF8E5M2 || d == DType::kF8E5M2FNUZ) {
        if (v == 0.15625) v = 0.125;  // two mantissa bits
      }
      EXPECT_EQ(NumberOf(BitsOf(std::complex<double>(v, 0), d), d).real(), v)
          << DTypeName(d) << " " << v;
    }
    EXPECT_TRUE(std::isnan(NumberOf(BitsOf(std::complex<double>(NAN, 0), d), d).real()))
        << DTypeName(d);
  }
  EXPECT_EQ(NumberOf(BitsOf({1.5, -2}, DType::kC64), DType::kC64), std::complex<double>(1.5, -2));
  EXPECT_EQ(NumberOf(BitsOf({1.5, -2}, DType::kC128), DType::kC128), std::complex<double>(1.5, -2));
}

TEST(Types, AreInternedByValue) {
  EXPECT_EQ(InternType(DType::kF32, {2, 3}), InternType(DType::kF32, {2, 3}));
  EXPECT_NE(InternType(DType::kF32, {2, 3}), InternType(DType::kF32, {3, 2}));
  EXPECT_NE(InternType(DType::kF32, {2, 3}), InternType(DType::kS32, {2, 3}));
}

TEST(MemoryAccount, FollowsBuffers) {
  MemoryAccount& account = MemoryAccount::Get();
  const int64_t before = account.allocated, count = account.count;
  {
    auto v = Value::Buffer(InternType(DType::kF32, {10, 10}), pjrt::Buffer(), "test");
    EXPECT_EQ(account.allocated - before, 400);
    EXPECT_EQ(account.count - count, 1);
    EXPECT_GE(account.peak, account.allocated);
    auto splat = Value::Splat(InternType(DType::kF32, {1000}), {});
    EXPECT_EQ(account.allocated - before, 400);  // a splat takes nothing
  }
  EXPECT_EQ(account.allocated, before);
  EXPECT_EQ(account.count, count);
}

}  // namespace
}  // namespace torch_tpu::graph
