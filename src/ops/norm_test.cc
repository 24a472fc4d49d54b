// Programs of normalisations, vector norms and softmax.
#include <gtest/gtest.h>

#include <limits>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TestCall& BatchNorm(TestCall& c, DType dtype, bool statistics, bool training) {
  c.Tensor(dtype, {4, 3, 5}).None().None();
  for (int i = 0; i < 2; ++i) {
    if (statistics) {
      c.Tensor(DType::kF32, {3});
    } else {
      c.None();
    }
  }
  c.Bool(training).Number().Number();
  c.Out(dtype, {4, 3, 5}).Out(DType::kF32, {3}).Out(DType::kF32, {3});
  const bool updates = statistics && training;
  for (int i = 0; i < 2; ++i)
    c.Out(updates ? DType::kF32 : DType::kInvalid, updates ? Dims{3} : Dims{});
  return c;
}

TEST(NormTest, TrainingGivesFiveResults) {
  TestCall c("aten::native_batch_norm");
  const std::string text = BatchNorm(c, DType::kF32, true, true).Text();
  EXPECT_TRUE(Contains(text,
                       "-> (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, "
                       "tensor<3xf32>)"))
      << text;
}

TEST(NormTest, StatisticsOfHalfTypesAreFloat32) {
  TestCall c("aten::native_batch_norm");
  const std::string text = BatchNorm(c, DType::kBF16, true, true).Text();
  EXPECT_TRUE(Contains(text, "(tensor<4x3x5xf32>, tensor<f32>) -> tensor<3xf32>")) << text;
}

TEST(NormTest, EvaluationReadsTheRunningStatistics) {
  TestCall c("aten::_native_batch_norm_legit");
  EXPECT_FALSE(Contains(BatchNorm(c, DType::kF32, true, false).Text(), "stablehlo.reduce"));
}

TEST(NormTest, LayerNormKeepsStatisticsInTheirDims) {
  TestCall c("aten::native_layer_norm");
  c.Tensor(DType::kF32, {2, 3, 4}).Ints({4}).None().None().Number();
  c.Out(DType::kF32, {2, 3, 4}).Out(DType::kF32, {2, 3, 1}).Out(DType::kF32, {2, 3, 1});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "-> (tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)"))
      << text;
  EXPECT_TRUE(Contains(text, "dimensions = array<i64: 2>")) << text;
}

TEST(NormTest, OrderOfANormDecidesTheProgram) {
  const auto ops = [](double order) {
    TestCall c("aten::linalg_vector_norm");
    c.Tensor(DType::kF32, {2, 3}).Constant(order).Ints({1}).Bool(false).None();
    return c.Out(DType::kF32, {2}).Ops();
  };
  EXPECT_EQ(ops(2), "multiply reduce add sqrt");
  EXPECT_EQ(ops(1), "abs reduce add");
  EXPECT_TRUE(Contains(ops(std::numeric_limits<double>::infinity()), "maximum"));
  EXPECT_TRUE(Contains(ops(3), "power"));
}

TEST(NormTest, LogSoftmaxIsStable) {
  TestCall c("aten::_log_softmax");
  c.Tensor(DType::kBF16, {2, 3}).Int(-1).Bool(false).Out(DType::kBF16, {2, 3});
  const std::string ops = c.Ops();
  EXPECT_TRUE(ops.starts_with("convert ")) << ops;
  EXPECT_TRUE(Contains(ops, "maximum")) << ops;
  EXPECT_LT(ops.find("subtract"), ops.find("exponential")) << ops;
}

}  // namespace
}  // namespace torch_tpu::ops
