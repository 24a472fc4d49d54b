// Programs of the plain reductions.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(ReduceTest, HalfTypesAccumulateInFloat32) {
  TestCall c("aten::sum.dim_IntList");
  c.Tensor(DType::kF16, {2, 3}).Ints({-1}).Bool(true).None().Out(DType::kF16, {2, 1});
  EXPECT_EQ(c.Ops(), "convert reduce add reshape convert");
}

TEST(ReduceTest, BooleansSumInTheResultsDType) {
  TestCall c("aten::sum");
  c.Tensor(DType::kPred, {4}).None().Out(DType::kS64, {});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "(tensor<4xi1>) -> tensor<4xi64>")) << text;

  TestCall any("aten::sum");
  any.Tensor(DType::kPred, {4}).Arg(DType::kPred).Out(DType::kPred, {});
  EXPECT_EQ(any.Ops(), "reduce or");
}

TEST(ReduceTest, AnEmptyDimListMeansAllDimsButForAnyAndAll) {
  TestCall sum("aten::sum.dim_IntList");
  sum.Tensor(DType::kF32, {2, 3}).Ints({}).Bool(false).None().Out(DType::kF32, {});
  EXPECT_TRUE(Contains(sum.Text(), "dimensions = array<i64: 0, 1>"));

  TestCall any("aten::any.dims");
  any.Tensor(DType::kF32, {2, 3}).Ints({}).Bool(false).Out(DType::kPred, {2, 3});
  EXPECT_EQ(any.Ops(), "compare");
}

TEST(ReduceTest, MeanDividesByTheCount) {
  TestCall c("aten::mean.dim");
  c.Tensor(DType::kF32, {2, 5}).Ints({1}).Bool(false).None().Out(DType::kF32, {2});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "dense<5.0>")) << text;
}

TEST(ReduceTest, CorrectionOfTheVarianceIsAnOperand) {
  TestCall c("aten::var_mean.correction");
  c.Tensor(DType::kF32, {2, 5}).Ints({1}).Number().Bool(false);
  c.Out(DType::kF32, {2}).Out(DType::kF32, {2});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "%arg1: tensor<f64>")) << text;
  EXPECT_TRUE(Contains(text, "stablehlo.subtract")) << text;
}

TEST(ReduceTest, DimsAreCheckedInPyTorchsWords) {
  TestCall c("aten::amax");
  c.Tensor(DType::kF32, {2, 5}).Ints({2}).Bool(false).Out(DType::kF32, {2});
  EXPECT_TRUE(Contains(c.Text(), "error: aten::amax: ")) << "the operator is named";
}

TEST(ReduceTest, ArgmaxComparesPositionsAmongEqualElements) {
  TestCall c("aten::argmax");
  c.Tensor(DType::kS32, {2, 5}).Int(1).Bool(false).Out(DType::kS64, {2});
  // The reduction carries 32-bit positions; one conversion at the end.
  EXPECT_EQ(c.Ops(), "iota reduce compare compare compare and or select select convert");
}

TEST(ReduceTest, ArgmaxOfAllFlattens) {
  TestCall c("aten::argmax");
  c.Tensor(DType::kF32, {2, 5}).None().Bool(true).Out(DType::kS64, {1, 1});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "(tensor<2x5xf32>) -> tensor<10xf32>")) << text;
}

}  // namespace
}  // namespace torch_tpu::ops
