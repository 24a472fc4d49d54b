// Programs of gathers and scatters by index tensors.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TensorType Int64(const Dims& dims) { return {DType::kS64, dims}; }

TEST(IndexTest, NeighbouringIndicesStayInPlaceAndOthersComeFirst) {
  TestCall inside("aten::index.Tensor");
  inside.Tensor(DType::kF32, {2, 5, 3, 4}).OptTensors({std::nullopt, Int64({7}), Int64({7})});
  inside.Out(DType::kF32, {2, 7, 4});
  std::string text = inside.Text();
  EXPECT_TRUE(Contains(text, "offset_dims = [0, 2]")) << text;
  EXPECT_TRUE(Contains(text, "start_index_map = [1, 2]")) << text;

  TestCall apart("aten::index.Tensor");
  apart.Tensor(DType::kF32, {2, 5, 3}).OptTensors({Int64({7}), std::nullopt, Int64({7})});
  apart.Out(DType::kF32, {7, 5});
  text = apart.Text();
  EXPECT_TRUE(Contains(text, "offset_dims = [1]")) << text;
  EXPECT_TRUE(Contains(text, "start_index_map = [0, 2]")) << text;
}

TEST(IndexTest, WideIndicesAreClampedBeforeTheyAreNarrowed) {
  TestCall wide("aten::index_select");
  wide.Tensor(DType::kF32, {5, 3}).Int(0).Tensor(DType::kS64, {2}).Out(DType::kF32, {2, 3});
  EXPECT_EQ(wide.Ops(), "clamp convert gather");
  TestCall narrow("aten::index_select");
  narrow.Tensor(DType::kF32, {5, 3}).Int(0).Tensor(DType::kS32, {2}).Out(DType::kF32, {2, 3});
  EXPECT_EQ(narrow.Ops(), "gather");
}

TEST(IndexTest, DebugModeChecksTheBounds) {
  TestCall c("aten::gather");
  c.Tensor(DType::kF32, {3, 4})
      .Int(0)
      .Tensor(DType::kS32, {2, 4})
      .Bool(false)
      .Out(DType::kF32, {2, 4})
      .Debug();
  c.Text();
  EXPECT_EQ(c.Checks(),
            std::vector<std::string>{"index out of bounds for dimension 0 with size 3"});
}

TEST(IndexTest, FloatIndicesAreRefused) {
  TestCall c("aten::index_select");
  c.Tensor(DType::kF32, {5, 3}).Int(0).Tensor(DType::kF32, {2}).Out(DType::kF32, {2, 3});
  EXPECT_EQ(c.Text(), "error: aten::index_select: index tensors must be integers, got f32");
}

TEST(IndexTest, AccumulationInHalfTypesGoesThroughFloat32) {
  TestCall c("aten::index_put");
  c.Tensor(DType::kF16, {4})
      .OptTensors({TensorType{DType::kS32, {9}}})
      .Tensor(DType::kF16, {9})
      .Bool(true);
  c.Out(DType::kF16, {4});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "(tensor<4xf32>, tensor<9x1xi32>, tensor<9xf32>) -> tensor<4xf32>"))
      << text;
}

TEST(IndexTest, OneMaskNeedsNoScatter) {
  TestCall c("aten::index_put");
  c.Tensor(DType::kF32, {4, 3})
      .OptTensors({TensorType{DType::kPred, {4, 3}}})
      .Tensor(DType::kF32, {})
      .Bool(false);
  c.Out(DType::kF32, {4, 3});
  const std::string ops = c.Ops();
  EXPECT_FALSE(Contains(ops, "scatter")) << ops;
  EXPECT_FALSE(Contains(ops, "reduce_window")) << ops;
}

TEST(IndexTest, NoIndicesLeaveTheTensorAlone) {
  TestCall c("aten::index_add");
  c.Tensor(DType::kF32, {4}).Int(0).Tensor(DType::kS32, {0}).Tensor(DType::kF32, {0}).Constant(1);
  c.Out(DType::kF32, {4});
  EXPECT_EQ(c.Ops(), "");
}

TEST(IndexTest, ScatterIntoFewerRowsTouchesOnlyThese) {
  TestCall c("aten::scatter.src");
  c.Tensor(DType::kF32, {5, 4}).Int(0).Tensor(DType::kS32, {2, 3}).Tensor(DType::kF32, {2, 3});
  c.Out(DType::kF32, {5, 4});
  EXPECT_EQ(c.Ops(), "slice scatter dynamic_update_slice");
}

TEST(IndexTest, ReductionsOfAnUnknownKindAreRefused) {
  TestCall c("aten::scatter_reduce.two");
  c.Tensor(DType::kF32, {5})
      .Int(0)
      .Tensor(DType::kS32, {2})
      .Tensor(DType::kF32, {2})
      .String("median")
      .Bool(true);
  c.Out(DType::kF32, {5});
  EXPECT_EQ(c.Text(),
            "error: aten::scatter_reduce.two: unknown reduction 'median'; use sum, prod, mean, "
            "amax or amin");
}

}  // namespace
}  // namespace torch_tpu::ops
