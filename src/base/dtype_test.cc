// Tests of element type facts: names, sizes, classes, real and complex partners, and dimension
// helpers.
#include "base/dtype.h"

#include <gtest/gtest.h>

#include <set>

namespace torch_tpu {
namespace {

TEST(DTypeTest, NamesAndSizes) {
  EXPECT_EQ(DTypeName(DType::kPred), "i1");
  EXPECT_EQ(DTypeName(DType::kU8), "ui8");
  EXPECT_EQ(DTypeName(DType::kBF16), "bf16");
  EXPECT_EQ(DTypeName(DType::kC64), "complex<f32>");
  EXPECT_EQ(DTypeName(DType::kF8E4M3FN), "f8E4M3FN");
  EXPECT_EQ(DTypeName(DType::kF8E5M2FNUZ), "f8E5M2FNUZ");
  EXPECT_EQ(DTypeSize(DType::kInvalid), 0);
  EXPECT_EQ(DTypeSize(DType::kPred), 1);
  EXPECT_EQ(DTypeSize(DType::kS16), 2);
  EXPECT_EQ(DTypeSize(DType::kF32), 4);
  EXPECT_EQ(DTypeSize(DType::kS64), 8);
  EXPECT_EQ(DTypeSize(DType::kC128), 16);
  EXPECT_EQ(DTypeSize(DType::kF8E5M2), 1);
}

TEST(DTypeTest, EveryTypeHasItsOwnNameAndExactlyOneClass) {
  std::set<std::string_view> names;
  for (int i = 1; i < kNumDTypes; ++i) {
    const DType d = static_cast<DType>(i);
    EXPECT_TRUE(names.insert(DTypeName(d)).second) << i;
    const int classes = IsFloat(d) + IsComplex(d) + IsInteger(d) + (d == DType::kPred);
    EXPECT_EQ(classes, 1) << DTypeName(d);
    EXPECT_EQ(IsInteger(d), IsSigned(d) || IsUnsigned(d)) << DTypeName(d);
  }
}

TEST(DTypeTest, ReducedFloats) {
  EXPECT_TRUE(IsReducedFloat(DType::kF16));
  EXPECT_TRUE(IsReducedFloat(DType::kBF16));
  EXPECT_TRUE(IsReducedFloat(DType::kF8E4M3FNUZ));
  EXPECT_FALSE(IsReducedFloat(DType::kF32));
  EXPECT_FALSE(IsReducedFloat(DType::kF64));
  EXPECT_FALSE(IsReducedFloat(DType::kS8));
  EXPECT_FALSE(IsReducedFloat(DType::kC64));
}

TEST(DTypeTest, RealAndComplexPartners) {
  EXPECT_EQ(RealType(DType::kC64), DType::kF32);
  EXPECT_EQ(RealType(DType::kC128), DType::kF64);
  EXPECT_EQ(RealType(DType::kS8), DType::kS8);
  EXPECT_EQ(ComplexType(DType::kF32), DType::kC64);
  EXPECT_EQ(ComplexType(DType::kF64), DType::kC128);
  EXPECT_EQ(ComplexType(DType::kF16), DType::kInvalid);
}

TEST(DimsTest, ElementsStridesAndText) {
  EXPECT_EQ(NumElements({}), 1);
  EXPECT_EQ(NumElements({2, 3, 4}), 24);
  EXPECT_EQ(NumElements({2, 0, 4}), 0);
  EXPECT_EQ(ContiguousStrides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(ContiguousStrides({2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(ContiguousStrides({}), Dims{});
  EXPECT_EQ(DimsToString({2, 3}), "[2, 3]");
  EXPECT_EQ(DimsToString({}), "[]");
}

}  // namespace
}  // namespace torch_tpu
