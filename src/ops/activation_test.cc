// Programs of activations and their gradients.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

std::string EluOps(double alpha, double scale, double input_scale) {
  TestCall c("aten::elu");
  c.Tensor(DType::kF32, {4}).Constant(alpha).Constant(scale).Constant(input_scale);
  return c.Out(DType::kF32, {4}).Ops();
}

TEST(ActivationTest, EluLeavesOutFactorsOfOne) {
  EXPECT_EQ(EluOps(1, 1, 1), "exponential_minus_one compare select");
  EXPECT_EQ(EluOps(1, 1, 0.5), "broadcast_in_dim multiply exponential_minus_one compare select");
  EXPECT_EQ(EluOps(0.5, 1, 1), "exponential_minus_one broadcast_in_dim multiply compare select");
}

TEST(ActivationTest, ReluKeepsNan) {
  TestCall c("aten::relu");
  EXPECT_EQ(c.Tensor(DType::kF32, {4}).Out(DType::kF32, {4}).Ops(), "maximum");
}

TEST(ActivationTest, GeluIsChosenByItsApproximation) {
  auto text = [](const char* approximate) {
    TestCall c("aten::gelu");
    return c.Tensor(DType::kF32, {4}).String(approximate).Out(DType::kF32, {4}).Text();
  };
  EXPECT_TRUE(Contains(text("none"), "chlo.erf"));
  EXPECT_TRUE(Contains(text("tanh"), "stablehlo.tanh"));
  EXPECT_FALSE(Contains(text("tanh"), "chlo.erf"));
}

// Meta gives an empty buffer for devices that do not use one.
TEST(ActivationTest, LogSigmoidBufferHasTheShapeAskedFor) {
  TestCall c("aten::log_sigmoid_forward");
  c.Tensor(DType::kF32, {4}).Out(DType::kF32, {4}).Out(DType::kF32, {0});
  EXPECT_TRUE(Contains(c.Text(), "-> (tensor<4xf32>, tensor<0xf32>)"));
}

TEST(ActivationTest, GluHalvesTheWrappedDim) {
  TestCall c("aten::glu");
  c.Tensor(DType::kF32, {2, 6}).Int(-1).Out(DType::kF32, {2, 3});
  EXPECT_EQ(c.Ops(), "slice slice logistic multiply");
}

TEST(ActivationTest, ABoundIsRoundedToTheInputsDtype) {
  auto ops = [](DType dtype) {
    TestCall c("aten::hardshrink");
    return c.Tensor(dtype, {4}).Number().Out(dtype, {4}).Ops();
  };
  EXPECT_TRUE(Contains(ops(DType::kBF16), "reduce_precision"));
  EXPECT_FALSE(Contains(ops(DType::kF32), "reduce_precision"));
}

TEST(ActivationTest, EluGradientOfTheResultNeedsNoExponential) {
  auto ops = [](bool is_result) {
    TestCall c("aten::elu_backward");
    c.Tensor(DType::kF32, {4}).Number().Constant(1).Constant(1).Bool(is_result);
    return c.Tensor(DType::kF32, {4}).Out(DType::kF32, {4}).Ops();
  };
  EXPECT_TRUE(Contains(ops(false), "exponential"));
  EXPECT_FALSE(Contains(ops(true), "exponential"));
}

TEST(ActivationTest, ThresholdBackwardIsAChoice) {
  TestCall c("aten::threshold_backward");
  c.Tensor(DType::kF32, {4}).Tensor(DType::kF32, {4}).Constant(0).Out(DType::kF32, {4});
  EXPECT_EQ(c.Ops(), "broadcast_in_dim compare select");
}

}  // namespace
}  // namespace torch_tpu::ops
