// Programs of convolutions: which geometry reaches the convolution op.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

struct Geometry {
  int64_t stride = 1, padding = 0, dilation = 1, output_padding = 0, groups = 1;
  bool transposed = false;
};

void Add(TestCall& c, const Geometry& g) {
  c.Ints({g.stride, g.stride})
      .Ints({g.padding, g.padding})
      .Ints({g.dilation, g.dilation})
      .Bool(g.transposed)
      .Ints({g.output_padding, g.output_padding})
      .Int(g.groups);
}

TEST(ConvolutionTest, PlainWithBias) {
  TestCall c("aten::convolution");
  c.Tensor(DType::kF32, {2, 4, 9, 9}).Tensor(DType::kF32, {8, 2, 3, 3}).Tensor(DType::kF32, {8});
  Add(c, {.stride = 2, .padding = 1, .groups = 2});
  c.Out(DType::kF32, {2, 8, 5, 5});
  EXPECT_EQ(c.Ops(), "convolution broadcast_in_dim add");
}

TEST(ConvolutionTest, GroupsAndStrides) {
  TestCall c("aten::convolution");
  c.Tensor(DType::kF32, {2, 4, 9, 9}).Tensor(DType::kF32, {8, 2, 3, 3}).None();
  Add(c, {.stride = 2, .padding = 1, .groups = 2});
  c.Out(DType::kF32, {2, 8, 5, 5});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "feature_group_count = 2 : i64")) << text;
  EXPECT_TRUE(Contains(text, "window_strides = array<i64: 2, 2>")) << text;
  EXPECT_TRUE(Contains(text, "padding = dense<[[1, 1], [1, 1]]>")) << text;
}

// A window that the size formula rounds away is cropped by negative padding.
TEST(ConvolutionTest, ElementsThatNoWindowReachesAreCropped) {
  TestCall c("aten::convolution");
  c.Tensor(DType::kF32, {1, 1, 6, 6}).Tensor(DType::kF32, {1, 1, 3, 3}).None();
  Add(c, {.stride = 2});
  c.Out(DType::kF32, {1, 1, 2, 2});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "padding = dense<[[0, -1], [0, -1]]>")) << text;
}

TEST(ConvolutionTest, OutputPaddingExtendsTheWindow) {
  TestCall c("aten::convolution");
  c.Tensor(DType::kF32, {1, 2, 3, 3}).Tensor(DType::kF32, {2, 3, 3, 3}).None();
  Add(c, {.stride = 2, .padding = 1, .output_padding = 1, .transposed = true});
  c.Out(DType::kF32, {1, 3, 6, 6});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "lhs_dilation = array<i64: 2, 2>")) << text;
  EXPECT_TRUE(Contains(text, "padding = dense<[[1, 2], [1, 2]]>")) << text;
}

TEST(ConvolutionTest, AnEmptyBatchNeedsNoConvolution) {
  TestCall c("aten::convolution");
  c.Tensor(DType::kF32, {0, 4, 9, 9}).Tensor(DType::kF32, {8, 4, 3, 3}).None();
  Add(c, {});
  c.Out(DType::kF32, {0, 8, 7, 7});
  EXPECT_EQ(c.Ops(), "");
}

TestCall& BackwardArguments(TestCall& c) {
  return c.Tensor(DType::kF32, {2, 8, 5, 5})
      .Tensor(DType::kF32, {2, 4, 9, 9})
      .Tensor(DType::kF32, {8, 2, 3, 3});
}

TEST(ConvolutionTest, BackwardGivesOnlyWhatTheMaskAsksFor) {
  TestCall c("aten::convolution_backward");
  BackwardArguments(c).Ints({8});
  Add(c, {.stride = 2, .padding = 1, .groups = 2});
  c.Arg(std::vector<bool>{false, false, true});
  c.Out(DType::kInvalid, {}).Out(DType::kInvalid, {}).Out(DType::kF32, {8});
  EXPECT_TRUE(Contains(c.Text(), "stablehlo.reduce"));
}

TEST(ConvolutionTest, WeightGradientUsesBatchGroups) {
  TestCall c("aten::convolution_backward_overrideable");
  BackwardArguments(c);
  Add(c, {.stride = 2, .padding = 1, .groups = 2});
  c.Arg(std::vector<bool>{false, true, false});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "batch_group_count = 2 : i64")) << text;
  EXPECT_TRUE(Contains(text, "rhs_dilation = array<i64: 2, 2>")) << text;
  EXPECT_EQ(c.outs()[1].dims, (Dims{8, 2, 3, 3}));
}

TEST(ConvolutionTest, ShapesOfTheOverrideableForms) {
  TestCall plain("aten::convolution_overrideable");
  plain.Tensor(DType::kF32, {1, 2, 9, 9}).Tensor(DType::kF32, {4, 2, 2, 2}).None();
  Add(plain, {.stride = 3, .dilation = 2});
  EXPECT_FALSE(plain.Text().starts_with("error"));
  EXPECT_EQ(plain.outs()[0].dims, (Dims{1, 4, 3, 3}));

  TestCall transposed("aten::convolution_overrideable");
  transposed.Tensor(DType::kF32, {1, 2, 3, 3}).Tensor(DType::kF32, {2, 3, 3, 3}).None();
  Add(transposed, {.stride = 2, .padding = 1, .output_padding = 1, .transposed = true});
  EXPECT_FALSE(transposed.Text().starts_with("error"));
  EXPECT_EQ(transposed.outs()[0].dims, (Dims{1, 3, 6, 6}));
}

}  // namespace
}  // namespace torch_tpu::ops
