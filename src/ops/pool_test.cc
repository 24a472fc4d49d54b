// Programs of pooling and resampling by matrices.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TestCall& MaxPoolBackward(TestCall& c, int64_t kernel, int64_t in, int64_t out) {
  return c.Tensor(DType::kF32, {1, 1, out, out})
      .Tensor(DType::kF32, {1, 1, in, in})
      .Ints({kernel})
      .Ints({kernel})
      .Ints({0})
      .Ints({1})
      .Bool(false)
      .Tensor(DType::kS64, {1, 1, out, out})
      .Out(DType::kF32, {1, 1, in, in});
}

TEST(PoolTest, MaxPoolValuesDoNotNeedTheIndices) {
  TestCall c("aten::max_pool2d_with_indices");
  c.Tensor(DType::kF32, {1, 2, 4, 4})
      .Ints({2, 2})
      .Ints({})
      .Ints({0, 0})
      .Ints({1, 1})
      .Bool(false)
      .Out(DType::kF32, {1, 2, 2, 2})
      .Out(DType::kS64, {1, 2, 2, 2});
  const std::string text = c.Text();
  EXPECT_EQ(Count(text, "\"stablehlo.reduce_window\""), 2u) << text;
  EXPECT_TRUE(Contains(text, ":2 = \"stablehlo.reduce_window\"")) << text;
  EXPECT_TRUE(Contains(text, "window_strides = array<i64: 1, 1, 2, 2>")) << text;
}

TEST(PoolTest, OnATpuTheGradientNeedsNoIndices) {
  TestCall c("aten::max_pool2d_with_indices_backward");
  // The fifth row and column lie in no window.
  EXPECT_EQ(MaxPoolBackward(c, 2, 5, 2).Ops(),
            "slice slice select_and_scatter compare compare or not add pad");
}

TEST(PoolTest, SmallWindowsSpreadMaximaWithoutAScatter) {
  TestCall c("aten::max_pool2d_with_indices_backward");
  const std::string text = MaxPoolBackward(c.For(Target::kCpu), 2, 4, 2).Text();
  EXPECT_EQ(Count(text, "\"stablehlo.pad\""), 4u) << text;
  EXPECT_FALSE(Contains(text, "stablehlo.scatter")) << text;
}

TEST(PoolTest, LargeWindowsScatter) {
  TestCall c("aten::max_pool2d_with_indices_backward");
  const std::string text = MaxPoolBackward(c.For(Target::kCpu), 9, 18, 2).Text();
  EXPECT_EQ(Count(text, "\"stablehlo.pad\""), 0u) << text;
  EXPECT_TRUE(Contains(text, "stablehlo.scatter")) << text;
}

TestCall& AvgPool(TestCall& c, int64_t padding, bool include_padding) {
  return c.Tensor(DType::kF32, {1, 1, 4, 4})
      .Ints({2})
      .Ints({2})
      .Ints({padding})
      .Bool(false)
      .Bool(include_padding)
      .None()
      .Out(DType::kF32, {1, 1, 2 + padding, 2 + padding});
}

TEST(PoolTest, EqualWindowsAreDividedByOneNumber) {
  TestCall c("aten::avg_pool2d");
  EXPECT_FALSE(Contains(AvgPool(c, 1, true).Text(), "stablehlo.iota"));
}

TEST(PoolTest, WindowsOverThePaddingAreCounted) {
  TestCall c("aten::avg_pool2d");
  EXPECT_TRUE(Contains(AvgPool(c, 1, false).Text(), "stablehlo.iota"));
}

TEST(PoolTest, AdaptiveWindowsOfOneSizeAreAReshape) {
  TestCall c("aten::_adaptive_avg_pool2d");
  c.Tensor(DType::kF32, {1, 3, 6, 6}).Ints({3, 2}).Out(DType::kF32, {1, 3, 3, 2});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "tensor<1x3x3x2x2x3xf32>")) << text;
  EXPECT_FALSE(Contains(text, "dot_general")) << text;
}

TEST(PoolTest, OtherAdaptiveWindowsAreMatrixProducts) {
  TestCall c("aten::_adaptive_avg_pool2d");
  c.Tensor(DType::kBF16, {1, 3, 7, 5}).Ints({3, 2}).Out(DType::kBF16, {1, 3, 3, 2});
  const std::string text = c.Text();
  EXPECT_EQ(Count(text, "\"stablehlo.dot_general\""), 2u) << text;
  EXPECT_TRUE(Contains(text, "precision HIGHEST")) << text;
}

}  // namespace
}  // namespace torch_tpu::ops
