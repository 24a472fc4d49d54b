// Programs of fills, ranges and index lists: computed from iota, never big constants.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(FactoryTest, FillConvertsAndBroadcasts) {
  TestCall c("aten::fill.Scalar");
  c.Tensor(DType::kF16, {2, 3}).Number().Out(DType::kF16, {2, 3});
  EXPECT_EQ(c.Ops(), "convert broadcast_in_dim");
}

TEST(FactoryTest, ArangeOfWholeNumbersStaysWhole) {
  TestCall c("aten::arange");
  c.Arg(Number{DType::kS64, 5.0, {}}).None();
  EXPECT_EQ(c.Out(DType::kF32, {5}).Ops(), "iota convert");
}

TEST(FactoryTest, ArangeOfFloatsIsRoundedOnce) {
  TestCall c("aten::arange.start_step");
  c.Number().Number().Number().None().Out(DType::kF32, {10});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "stablehlo.multiply")) << text;
  EXPECT_TRUE(Contains(text, "(tensor<10xf64>) -> tensor<10xf32>")) << text;
}

TEST(FactoryTest, LinspaceOfOneStepIsItsStart) {
  TestCall c("aten::linspace");
  c.Number().Number().Int(1).None().Out(DType::kF32, {1});
  EXPECT_EQ(c.Ops(), "convert convert broadcast_in_dim");
}

TEST(FactoryTest, EyeComparesIndices) {
  TestCall c("aten::eye.m");
  c.Int(2).Int(3).Out(DType::kF32, {2, 3});
  EXPECT_EQ(c.Ops(), "iota iota compare convert");
}

TEST(FactoryTest, TriangleIndicesHaveNoTable) {
  TestCall c("aten::tril_indices");
  c.Int(60).Int(40).Int(3).Out(DType::kS64, {2, 1734});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "stablehlo.iota")) << text;
  EXPECT_FALSE(Contains(text, "dense<[")) << text;
  EXPECT_LT(text.size(), 12000u);
}

TEST(FactoryTest, AnEmptyTriangleIsAConstant) {
  TestCall c("aten::triu_indices");
  c.Int(3).Int(3).Int(9).Out(DType::kS64, {2, 0});
  EXPECT_EQ(c.Ops(), "");
}

}  // namespace
}  // namespace torch_tpu::ops
