// Programs of embedding and embedding_bag.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(EmbeddingTest, ForwardIsOneGather) {
  TestCall c("aten::embedding");
  c.Tensor(DType::kBF16, {5, 3}).Tensor(DType::kS32, {2, 4}).Int(-1).Bool(false).Bool(false);
  EXPECT_EQ(c.Out(DType::kBF16, {2, 4, 3}).Ops(), "gather");
}

TEST(EmbeddingTest, GradientsAccumulateInFloat32) {
  TestCall c("aten::embedding_dense_backward");
  c.Tensor(DType::kBF16, {2, 4, 3}).Tensor(DType::kS32, {2, 4}).Int(5).Int(-1).Bool(false);
  const std::string text = c.Out(DType::kBF16, {5, 3}).Text();
  EXPECT_TRUE(
      Contains(text, "(tensor<5x3xf32>, tensor<8xi32>, tensor<8x3xf32>) -> tensor<5x3xf32>"))
      << text;
}

TEST(EmbeddingTest, DebugModeNamesTheProblem) {
  TestCall c("aten::embedding");
  c.Tensor(DType::kF32, {5, 3}).Tensor(DType::kS32, {2}).Int(-1).Bool(false).Bool(false);
  c.Out(DType::kF32, {2, 3}).Debug().Text();
  EXPECT_EQ(c.Checks(), std::vector<std::string>{"index out of range in self"});
}

TEST(EmbeddingTest, SparseBagGradientsAreRefused) {
  TestCall c("aten::_embedding_bag_backward");
  c.Tensor(DType::kF32, {2, 3})
      .Tensor(DType::kS64, {4})
      .Tensor(DType::kS64, {2})
      .Tensor(DType::kS64, {4});
  c.Tensor(DType::kS64, {2})
      .Tensor(DType::kS64, {0})
      .Int(5)
      .Bool(false)
      .Int(0)
      .Bool(true)
      .None()
      .Int(-1);
  EXPECT_TRUE(Contains(c.Out(DType::kF32, {5, 3}).Text(), "pass sparse=False"));
}

TEST(EmbeddingTest, BagsReturnTheirCountsWithTheLastOffset) {
  TestCall c("aten::_embedding_bag");
  c.Tensor(DType::kF32, {5, 3})
      .Tensor(DType::kS64, {4})
      .Tensor(DType::kS64, {3})
      .Bool(false)
      .Int(1)
      .Bool(false);
  c.None().Bool(true).Int(-1);
  c.Out(DType::kF32, {2, 3}).Out(DType::kS64, {4}).Out(DType::kS64, {3}).Out(DType::kS64, {0});
  EXPECT_FALSE(c.Text().starts_with("error"));
}

}  // namespace
}  // namespace torch_tpu::ops
