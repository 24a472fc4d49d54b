// Programs of matrix products.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(MatmulTest, HalfTypesAccumulateInFloat32) {
  TestCall c("aten::mm");
  c.Tensor(DType::kBF16, {2, 3}).Tensor(DType::kBF16, {3, 4}).Out(DType::kBF16, {2, 4});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "(tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>")) << text;
}

TEST(MatmulTest, IntegersStayIntegers) {
  TestCall c("aten::mm");
  c.Tensor(DType::kS64, {2, 3}).Tensor(DType::kS64, {3, 4}).Out(DType::kS64, {2, 4});
  EXPECT_EQ(c.Ops(), "dot_general");
}

TEST(MatmulTest, IntMmWidensItsFactors) {
  TestCall c("aten::_int_mm");
  c.Tensor(DType::kS8, {2, 3}).Tensor(DType::kS8, {3, 4}).Out(DType::kS32, {2, 4});
  EXPECT_EQ(c.Ops(), "convert convert dot_general");
}

TEST(MatmulTest, BatchesLead) {
  TestCall c("aten::bmm");
  c.Tensor(DType::kF32, {5, 2, 3}).Tensor(DType::kF32, {5, 3, 4}).Out(DType::kF32, {5, 2, 4});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "lhs_batching_dimensions = [0]")) << text;
  EXPECT_TRUE(Contains(text, "lhs_contracting_dimensions = [2]")) << text;
  EXPECT_TRUE(Contains(text, "rhs_contracting_dimensions = [1]")) << text;
}

Value Flatten(Value x) { return shlo::reshape(x, {x.dim(0) * x.dim(1), x.dim(2)}); }
Value FlattenTransposed(Value x) { return shlo::transpose(Flatten(x), {1, 0}); }

TEST(MatmulTest, FlattenedFactorsKeepTheirDims) {
  TestCall c("aten::addmm");
  c.Tensor(DType::kF32, {4})
      .Made({DType::kF32, {2, 5, 3}}, Flatten)
      .Tensor(DType::kF32, {3, 4})
      .Constant(1)
      .Constant(1)
      .Out(DType::kF32, {10, 4});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "(tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>")) << text;
  EXPECT_TRUE(Contains(text, "\"stablehlo.add\"(%5, %3) : (tensor<2x5x4xf32>")) << text;
}

TEST(MatmulTest, AFlattenedContractionIsOverBothDims) {
  TestCall c("aten::mm");
  c.Made({DType::kF32, {2, 5, 3}}, FlattenTransposed)
      .Made({DType::kF32, {2, 5, 7}}, Flatten)
      .Out(DType::kF32, {3, 7});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "(tensor<2x5x3xf32>, tensor<2x5x7xf32>) -> tensor<3x7xf32>")) << text;
  EXPECT_TRUE(Contains(text, "lhs_contracting_dimensions = [0, 1]")) << text;
}

TEST(MatmulTest, ContractionsThatWereFlattenedDifferentlyStayFlat) {
  TestCall c("aten::mm");
  c.Made({DType::kF32, {2, 5, 3}}, FlattenTransposed)
      .Made({DType::kF32, {5, 2, 7}}, Flatten)
      .Out(DType::kF32, {3, 7});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "(tensor<10x3xf32>, tensor<10x7xf32>) -> tensor<3x7xf32>")) << text;
}

TEST(MatmulTest, FreeDimsInAnotherOrderAreNotTakenApart) {
  TestCall c("aten::bmm");
  c.Made({DType::kF32, {3, 2, 4}}, [](Value x) { return shlo::transpose(x, {1, 0, 2}); })
      .Tensor(DType::kF32, {2, 4, 7})
      .Out(DType::kF32, {2, 3, 7});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "(tensor<3x2x4xf32>, tensor<2x4x7xf32>) -> tensor<2x3x7xf32>"))
      << text;
  EXPECT_TRUE(Contains(text, "lhs_batching_dimensions = [1]")) << text;
}

TestCall& AddmmArguments(TestCall& c) {
  return c.Tensor(DType::kF32, {4}).Tensor(DType::kF32, {2, 3}).Tensor(DType::kF32, {3, 4});
}

TEST(MatmulTest, FactorsOfOneAreLeftOut) {
  TestCall c("aten::addmm");
  AddmmArguments(c).Constant(1).Constant(1).Out(DType::kF32, {2, 4});
  EXPECT_EQ(c.Ops(), "dot_general broadcast_in_dim add");
}

TEST(MatmulTest, BetaOfZeroDoesNotReadTheAddedTensor) {
  TestCall c("aten::addmm");
  AddmmArguments(c).Constant(0).Constant(1).Out(DType::kF32, {2, 4});
  EXPECT_EQ(c.Ops(), "dot_general");
}

TEST(MatmulTest, OtherFactorsAreOperands) {
  TestCall c("aten::addmm");
  AddmmArguments(c).Number().Number().Out(DType::kF32, {2, 4});
  EXPECT_EQ(c.Ops(),
            "dot_general convert broadcast_in_dim multiply broadcast_in_dim convert "
            "broadcast_in_dim multiply add");
}

TEST(MatmulTest, AddbmmSumsOverTheBatchInOneProduct) {
  TestCall c("aten::addbmm");
  c.Tensor(DType::kF32, {2, 4})
      .Tensor(DType::kF32, {5, 2, 3})
      .Tensor(DType::kF32, {5, 3, 4})
      .Constant(0)
      .Constant(1)
      .Out(DType::kF32, {2, 4});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "lhs_contracting_dimensions = [0, 2]")) << text;
  EXPECT_TRUE(Contains(text, "rhs_contracting_dimensions = [0, 1]")) << text;
}

}  // namespace
}  // namespace torch_tpu::ops
