// Programs of padding.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(PaddingTest, ConstantPadIsOnePad) {
  TestCall c("aten::constant_pad_nd");
  c.Tensor(DType::kF32, {2, 3}).Ints({1, -1, 2, 0}).Number().Out(DType::kF32, {4, 3});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "edge_padding_low = array<i64: 2, 1>")) << text;
  EXPECT_TRUE(Contains(text, "edge_padding_high = array<i64: 0, -1>")) << text;
}

TEST(PaddingTest, ReflectionLeavesTheEdgeOut) {
  TestCall c("aten::reflection_pad1d");
  c.Tensor(DType::kF32, {2, 5}).Ints({2, 0}).Out(DType::kF32, {2, 7});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "start_indices = array<i64: 0, 1>")) << text;
  EXPECT_TRUE(Contains(text, "limit_indices = array<i64: 2, 3>")) << text;
  EXPECT_TRUE(Contains(text, "stablehlo.reverse")) << text;
}

TEST(PaddingTest, ReplicationBackwardSumsTheMargin) {
  TestCall c("aten::replication_pad1d_backward");
  c.Tensor(DType::kF32, {2, 8}).Tensor(DType::kF32, {2, 5}).Ints({3, 0}).Out(DType::kF32, {2, 5});
  EXPECT_EQ(c.Ops(), "slice slice reduce add reshape pad add");
}

}  // namespace
}  // namespace torch_tpu::ops
