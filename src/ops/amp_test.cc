// Programs of gradient scaling.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(AmpTest, UnscaleGivesTheGradientsThenTheFlag) {
  TestCall c("aten::_amp_foreach_non_finite_check_and_unscale");
  c.Tensors({{DType::kF16, {2}}, {DType::kF32, {3}}});
  c.Tensor(DType::kF32, {1}).Tensor(DType::kF32, {});
  c.Out(DType::kF16, {2}).Out(DType::kF32, {3}).Out(DType::kF32, {1});
  EXPECT_TRUE(Contains(c.Text(), "-> (tensor<2xf16>, tensor<3xf32>, tensor<1xf32>)"));
}

TEST(AmpTest, UpdateScaleGivesScaleAndTracker) {
  TestCall c("aten::_amp_update_scale");
  c.Tensor(DType::kF32, {}).Tensor(DType::kS32, {}).Tensor(DType::kF32, {});
  c.Number().Number().Int(2000).Out(DType::kF32, {}).Out(DType::kS32, {});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "-> (tensor<f32>, tensor<i32>)")) << text;
  EXPECT_TRUE(Contains(text, "dense<2000> : tensor<i32>")) << text;
}

}  // namespace
}  // namespace torch_tpu::ops
