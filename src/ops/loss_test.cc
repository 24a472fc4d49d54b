// Programs of losses.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

std::string MseOps(int64_t reduction, const Dims& out) {
  TestCall c("aten::mse_loss");
  c.Tensor(DType::kF32, {2, 3}).Tensor(DType::kF32, {2, 3}).Int(reduction);
  return c.Out(DType::kF32, out).Ops();
}

TEST(LossTest, Reductions) {
  EXPECT_EQ(MseOps(0, {2, 3}), "subtract multiply");
  EXPECT_EQ(MseOps(1, {}), "subtract multiply reduce add divide");
  EXPECT_EQ(MseOps(2, {}), "subtract multiply reduce add");
}

TEST(LossTest, ShortFloatsAreSummedInFloat32) {
  TestCall c("aten::mse_loss");
  c.Tensor(DType::kBF16, {8}).Tensor(DType::kBF16, {8}).Int(2).Out(DType::kBF16, {});
  EXPECT_TRUE(Contains(c.Text(), "(tensor<8xf32>, tensor<f32>) -> tensor<f32>"));
}

TestCall& Nll(TestCall& c, const Dims& x, const Dims& labels, int64_t reduction) {
  c.Tensor(DType::kF32, x).Tensor(DType::kS64, labels).None().Int(reduction).Int(-100);
  return c.Out(DType::kF32, reduction == 0 ? labels : Dims{}).Out(DType::kF32, {});
}

TEST(LossTest, NllGathersOneNumberPerLabel) {
  TestCall c("aten::nll_loss2d_forward");
  const std::string text = Nll(c, {2, 5, 3, 4}, {2, 3, 4}, 1).Text();
  EXPECT_TRUE(Contains(text, "(tensor<2x5x3x4xf32>, tensor<2x3x4x1xi64>) -> tensor<2x3x4xf32>"))
      << text;
}

TEST(LossTest, NllOfOneSampleHasNoBatch) {
  TestCall c("aten::nll_loss_forward");
  EXPECT_FALSE(Nll(c, {5}, {}, 1).Text().starts_with("error"));
}

TEST(LossTest, NllChecksLabelsInDebugMode) {
  TestCall c("aten::nll_loss_forward");
  Nll(c, {3, 5}, {3}, 1).Debug().Text();
  ASSERT_EQ(c.Checks().size(), 1u);
  EXPECT_EQ(c.Checks()[0],
            "nll_loss: a target is out of bounds: expected 0 to 4 or ignore_index -100");
}

// Each element of the gradient is compared with its own class number: no scatter.
TEST(LossTest, NllBackwardIsAChoice) {
  TestCall c("aten::nll_loss_backward");
  c.Tensor(DType::kF32, {}).Tensor(DType::kF32, {3, 5}).Tensor(DType::kS64, {3}).None();
  c.Int(1).Int(-100).Tensor(DType::kF32, {}).Out(DType::kF32, {3, 5});
  const std::string ops = c.Ops();
  EXPECT_TRUE(ops.ends_with("select")) << ops;
  EXPECT_FALSE(Contains(ops, "scatter")) << ops;
}

}  // namespace
}  // namespace torch_tpu::ops
