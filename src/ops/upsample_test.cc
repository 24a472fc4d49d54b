// Programs of resizing and padding.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TestCall& Nearest(TestCall& c, const Dims& in, const Dims& out) {
  return c.Tensor(DType::kF32, in).Ints({out[2], out[3]}).None().None().Out(DType::kF32, out);
}

TEST(UpsampleTest, WholeFactorsRepeatElements) {
  TestCall c("aten::upsample_nearest2d");
  EXPECT_EQ(Nearest(c, {1, 2, 3, 4}, {1, 2, 6, 12}).Ops(),
            "broadcast_in_dim reshape broadcast_in_dim reshape");
}

TEST(UpsampleTest, OtherFactorsPickElements) {
  TestCall c("aten::upsample_nearest2d");
  const std::string ops = Nearest(c, {1, 2, 3, 4}, {1, 2, 5, 4}).Ops();
  EXPECT_TRUE(Contains(ops, "gather")) << ops;
  EXPECT_FALSE(Contains(ops, "dot_general")) << ops;
}

TEST(UpsampleTest, LinearIsOneProductADim) {
  TestCall c("aten::upsample_bilinear2d");
  c.Tensor(DType::kBF16, {1, 2, 3, 4}).Ints({5, 7}).Bool(false).None().None();
  const std::string text = c.Out(DType::kBF16, {1, 2, 5, 7}).Text();
  EXPECT_TRUE(Contains(text, "(tensor<1x2x3x4xf32>, tensor<5x3xf32>) -> tensor<1x2x4x5xf32>"))
      << text;
  EXPECT_TRUE(Contains(text, "(tensor<1x2x4x5xf32>, tensor<7x4xf32>) -> tensor<1x2x5x7xf32>"))
      << text;
}

TEST(UpsampleTest, BackwardIsTheTransposedProduct) {
  TestCall c("aten::upsample_linear1d_backward");
  c.Tensor(DType::kF32, {1, 2, 5}).Ints({5}).Ints({1, 2, 3}).Bool(true).None();
  const std::string text = c.Out(DType::kF32, {1, 2, 3}).Text();
  EXPECT_TRUE(Contains(text, "(tensor<1x2x5xf32>, tensor<5x3xf32>) -> tensor<1x2x3xf32>")) << text;
  EXPECT_TRUE(Contains(text, "rhs_contracting_dimensions = [0]")) << text;
}

}  // namespace
}  // namespace torch_tpu::ops
