// Programs that rearrange tensors: cat, roll, repeat, triangles, windows.
#include <gtest/gtest.h>

#include <algorithm>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(ShapeTest, CatConvertsAndSkipsLegacyEmptyTensors) {
  TestCall c("aten::cat");
  c.Tensors({{DType::kS64, {2, 3}}, {DType::kF32, {0}}, {DType::kF32, {1, 3}}})
      .Int(0)
      .Out(DType::kF32, {3, 3});
  EXPECT_EQ(c.Ops(), "convert concatenate");
}

TEST(ShapeTest, RollIsTwoSlices) {
  TestCall c("aten::roll");
  c.Tensor(DType::kF32, {3, 4}).Ints({1}).Ints({1}).Out(DType::kF32, {3, 4});
  EXPECT_EQ(c.Ops(), "slice slice concatenate");
  TestCall whole("aten::roll");
  whole.Tensor(DType::kF32, {3, 4}).Ints({8}).Ints({1}).Out(DType::kF32, {3, 4});
  EXPECT_EQ(whole.Ops(), "") << "a roll by a multiple of the size moves nothing";
}

TEST(ShapeTest, RepeatBroadcastsOnce) {
  TestCall c("aten::repeat");
  c.Tensor(DType::kF32, {2}).Ints({3, 2}).Out(DType::kF32, {3, 4});
  EXPECT_EQ(c.Ops(), "broadcast_in_dim reshape");
}

TEST(ShapeTest, TrianglesCompareIotas) {
  TestCall c("aten::tril");
  c.Tensor(DType::kF32, {3, 4}).Int(-1).Out(DType::kF32, {3, 4});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "comparison_direction LE")) << text;
  EXPECT_TRUE(Contains(text, "dense<-1>")) << text;
}

TEST(ShapeTest, SummingWindowsTakesAFixedNumberOfOperations) {
  std::string ops[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t size = i == 0 ? 3 : 400;
    TestCall c("aten::unfold_backward");
    c.Tensor(DType::kF32, {10, size}).Ints({2000}).Int(0).Int(size).Int(2).Out(DType::kF32, {2000});
    ops[i] = c.Ops();
  }
  EXPECT_FALSE(Contains(ops[0], "scatter")) << ops[0];
  EXPECT_EQ(std::count(ops[0].begin(), ops[0].end(), ' ') / 3,
            std::count(ops[1].begin(), ops[1].end(), ' ') / 3);
}

TEST(ShapeTest, DistancesOfLargeInputsAreAMatrixProduct) {
  TestCall large("aten::_cdist_forward"), small("aten::_cdist_forward");
  large.Tensor(DType::kF32, {30, 4})
      .Tensor(DType::kF32, {5, 4})
      .Constant(2)
      .None()
      .Out(DType::kF32, {30, 5});
  small.Tensor(DType::kF32, {3, 4})
      .Tensor(DType::kF32, {5, 4})
      .Constant(2)
      .None()
      .Out(DType::kF32, {3, 5});
  const std::string text = large.Text();
  EXPECT_TRUE(Contains(text, "dot_general")) << text;
  EXPECT_TRUE(Contains(text, "HIGHEST")) << text;
  EXPECT_FALSE(Contains(small.Text(), "dot_general"));
}

}  // namespace
}  // namespace torch_tpu::ops
