// Programs of the scans.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(ScanTest, CumsumIsOneWindowOverTheWholeDim) {
  TestCall c("aten::cumsum");
  c.Tensor(DType::kF32, {2, 5}).Int(-1).None().Out(DType::kF32, {2, 5});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "window_dimensions = array<i64: 1, 5>")) << text;
  EXPECT_TRUE(Contains(text, "padding = dense<[[0, 0], [4, 0]]>")) << text;
}

TEST(ScanTest, IntegersWidenToInt64AndHalvesToFloat32) {
  TestCall ints("aten::cumsum");
  ints.Tensor(DType::kS8, {5}).Int(0).None().Out(DType::kS64, {5});
  EXPECT_EQ(ints.Ops(), "convert reduce_window add");
  TestCall halves("aten::cumprod");
  halves.Tensor(DType::kBF16, {5}).Int(0).None().Out(DType::kBF16, {5});
  EXPECT_EQ(halves.Ops(), "convert reduce_window multiply convert");
}

TEST(ScanTest, NoElementsNeedNoWindow) {
  TestCall c("aten::cumsum");
  c.Tensor(DType::kF32, {2, 0}).Int(1).None().Out(DType::kF32, {2, 0});
  EXPECT_EQ(c.Ops(), "");
}

TEST(ScanTest, CummaxScansValuesAndPositionsApart) {
  TestCall c("aten::cummax");
  c.Tensor(DType::kS32, {4}).Int(0).Out(DType::kS32, {4}).Out(DType::kS64, {4});
  const std::string text = c.Text();
  // Every window has one operand: two results in one window crash XLA's rewrite when their dtypes
  // differ.
  EXPECT_FALSE(Contains(text, ":2 = \"stablehlo.reduce_window\"")) << text;
}

}  // namespace
}  // namespace torch_tpu::ops
