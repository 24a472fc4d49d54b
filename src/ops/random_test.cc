// Programs of random operators: which bits are drawn, and how wide.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

std::string UniformText(DType dtype) {
  TestCall c("aten::uniform");
  c.Random().Tensor(dtype, {4}).Constant(0).Constant(1).None();
  return c.Out(dtype, {4}).Text();
}

TEST(RandomTest, UniformDrawsAsManyBitsAsTheResultHolds) {
  EXPECT_TRUE(Contains(UniformText(DType::kF32), "dense<8> : tensor<4xui32>"));
  EXPECT_TRUE(Contains(UniformText(DType::kF64), "dense<11> : tensor<4xui64>"));
  EXPECT_TRUE(Contains(UniformText(DType::kBF16), "dense<24> : tensor<4xui32>"));
  EXPECT_TRUE(Contains(UniformText(DType::kF16), "dense<21> : tensor<4xui32>"));
}

TEST(RandomTest, UniformNeverGivesItsEnd) {
  TestCall c("aten::uniform");
  c.Random().Tensor(DType::kF32, {4}).Constant(0).Constant(1).None();
  const std::string ops = c.Out(DType::kF32, {4}).Ops();
  EXPECT_TRUE(ops.ends_with("compare broadcast_in_dim select")) << ops;
}

TEST(RandomTest, ComplexNormalDrawsTwoParts) {
  TestCall c("aten::normal_functional");
  c.Random().Tensor(DType::kC64, {4}).Constant(0).Constant(1).None();
  EXPECT_TRUE(Contains(c.Out(DType::kC64, {4}).Text(), "tensor<2x4xui32>"));
}

std::string RangeText(DType dtype, int64_t from, int64_t to) {
  TestCall c("aten::random.from");
  c.Random().Tensor(dtype, {4}).Int(from).Int(to).None();
  return c.Out(dtype, {4}).Text();
}

TEST(RandomTest, WideRangesDrawSixtyFourBits) {
  EXPECT_TRUE(Contains(RangeText(DType::kS64, 0, 1 << 16), "tensor<4xui32>"));
  EXPECT_FALSE(Contains(RangeText(DType::kS64, 0, 1 << 16), "-> (tensor<2xui64>, tensor<4xui64>)"));
  EXPECT_TRUE(Contains(RangeText(DType::kS64, 0, 1 << 20), "-> (tensor<2xui64>, tensor<4xui64>)"));
}

// 999 is no bfloat16 and would round up to the excluded 1000: the range ends at 996.
TEST(RandomTest, ShortFloatsEndAtANumberTheyHold) {
  EXPECT_TRUE(Contains(RangeText(DType::kBF16, 0, 1000), "dense<997> : tensor<i64>"));
  EXPECT_TRUE(Contains(RangeText(DType::kF32, 0, 1000), "dense<1000> : tensor<i64>"));
}

TEST(RandomTest, DropoutOutsideTrainingDrawsNothing) {
  TestCall c("aten::native_dropout");
  c.Tensor(DType::kF32, {4}).Number().Bool(false).Out(DType::kF32, {4}).Out(DType::kPred, {4});
  EXPECT_EQ(c.Ops(), "");
}

TEST(RandomTest, ForgottenRandomStateIsNamed) {
  TestCall c("aten::bernoulli");
  c.Tensor(DType::kF32, {4}).Out(DType::kF32, {4});
  EXPECT_TRUE(Contains(c.Text(), "aten::bernoulli: draws random bits"));
}

TEST(RandomTest, OneSampleOfMultinomialNeedsNoSort) {
  auto ops = [](int64_t samples) {
    TestCall c("aten::multinomial");
    c.Random().Tensor(DType::kF32, {3, 5}).Int(samples).Bool(false).None();
    return c.Out(DType::kS64, {3, samples}).Ops();
  };
  EXPECT_FALSE(Contains(ops(1), "sort"));
  EXPECT_TRUE(Contains(ops(2), "sort"));
}

}  // namespace
}  // namespace torch_tpu::ops
