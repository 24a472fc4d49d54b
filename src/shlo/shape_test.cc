// Golden lines, shortcuts and refusals of the ops that move elements.
#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

const TensorType kF{DType::kF32, {2, 3}};
const TensorType kStart{DType::kS64, {}};

TEST(ShapeTest, Lines) {
  ExpectGolden(
      {kF, {DType::kF32, {}}, kStart, {DType::kF32, {1, 2}}},
      {{R"(%0 = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 1, 2>} : )"
        R"((tensor<2x3xf32>) -> tensor<4x2x3xf32>)",
        [](Builder&, Args a) { broadcast_in_dim(a[0], {4, 2, 3}, {1, 2}); }},
       {R"(%0 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2xf32>)",
        [](Builder&, Args a) { broadcast_in_dim(a[1], {2}, {}); }},
       {R"(%0 = "stablehlo.reshape"(%arg0) : (tensor<2x3xf32>) -> tensor<6xf32>)",
        [](Builder&, Args a) { reshape(a[0], {6}); }},
       {R"(%0 = "stablehlo.transpose"(%arg0) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>)",
        [](Builder&, Args a) { transpose(a[0], {1, 0}); }},
       {R"(%0 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 3>, )"
        R"(strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x1xf32>)",
        [](Builder&, Args a) { slice(a[0], {0, 1}, {2, 3}, {1, 2}); }},
       {R"(%0 = "stablehlo.dynamic_slice"(%arg0, %arg2, %arg2) {slice_sizes = array<i64: 1, 2>} : )"
        R"((tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<1x2xf32>)",
        [](Builder&, Args a) { dynamic_slice(a[0], std::vector<Value>{a[2], a[2]}, {1, 2}); }},
       {R"(%0 = "stablehlo.dynamic_update_slice"(%arg0, %arg3, %arg2, %arg2) : )"
        R"((tensor<2x3xf32>, tensor<1x2xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>)",
        [](Builder&, Args a) { dynamic_update_slice(a[0], a[3], std::vector<Value>{a[2], a[2]}); }},
       {R"(%0 = "stablehlo.pad"(%arg0, %arg1) {edge_padding_low = array<i64: 1, -1>, )"
        R"(edge_padding_high = array<i64: 0, 2>, interior_padding = array<i64: 0, 1>} : )"
        R"((tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>)",
        [](Builder&, Args a) { pad(a[0], a[1], {1, -1}, {0, 2}, {0, 1}); }},
       {R"(%0 = "stablehlo.concatenate"(%arg0, %arg0) {dimension = 1 : i64} : )"
        R"((tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>)",
        [](Builder&, Args a) { concatenate(std::vector<Value>{a[0], a[0]}, 1); }},
       {R"(%0 = "stablehlo.reverse"(%arg0) {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>)",
        [](Builder&, Args a) { reverse(a[0], {0}); }}});
}

TEST(ShapeTest, NothingToDoGivesTheOperand) {
  EXPECT_EQ(BodyText({kF, {DType::kF32, {}}, kStart},
                     [](Builder&, Args a) {
                       std::vector<Value> starts = {a[2], a[2]};
                       EXPECT_EQ(broadcast_in_dim(a[0], {2, 3}, {0, 1}).id(), a[0].id());
                       EXPECT_EQ(reshape(a[0], {2, 3}).id(), a[0].id());
                       EXPECT_EQ(transpose(a[0], {0, 1}).id(), a[0].id());
                       EXPECT_EQ(slice(a[0], {0, 0}, {2, 3}, {1, 1}).id(), a[0].id());
                       EXPECT_EQ(pad(a[0], a[1], {0, 0}, {0, 0}, {0, 0}).id(), a[0].id());
                       EXPECT_EQ(concatenate(a.subspan(0, 1), 0).id(), a[0].id());
                       EXPECT_EQ(reverse(a[0], {}).id(), a[0].id());
                       EXPECT_EQ(dynamic_slice(a[1], {}, {}).id(), a[1].id());
                       EXPECT_EQ(dynamic_slice(a[0], starts, {2, 3}).id(), a[0].id());
                       EXPECT_EQ(dynamic_update_slice(a[0], a[0], starts).id(), a[0].id());
                     }),
            "");
  const TensorType square{DType::kF32, {2, 2}};
  EXPECT_NE(BodyText({square}, [](Builder&, Args a) { transpose(a[0], {1, 0}); }), "");
  EXPECT_NE(BodyText({square}, [](Builder&, Args a) { broadcast_in_dim(a[0], {2, 2}, {1, 0}); }),
            "");
}

TEST(ShapeTest, ZeroSizes) {
  const TensorType empty{DType::kF32, {0, 3}};
  EXPECT_EQ(BodyText({empty, {DType::kF32, {}}},
                     [](Builder&, Args a) {
                       EXPECT_EQ(reshape(a[0], {3, 0, 5}).dims(), (Dims{3, 0, 5}));
                       EXPECT_EQ(slice(a[0], {0, 1}, {0, 3}, {1, 1}).dims(), (Dims{0, 2}));
                       EXPECT_EQ(pad(a[0], a[1], {1, 0}, {1, 0}, {5, 0}).dims(), (Dims{2, 3}));
                     })
                .substr(0, 5),
            "%0 = ");
}

TEST(ShapeTest, Refusals) {
  ExpectRefusal({kF},
                "stablehlo.broadcast_in_dim: broadcast_dimensions must have 2 entries, got [0]",
                [](Builder&, Args a) { broadcast_in_dim(a[0], {2, 3}, {0}); });
  ExpectRefusal(
      {kF},
      "stablehlo.broadcast_in_dim: tensor<2x3xf32> does not broadcast to dims [2, 4] along [0, 1]",
      [](Builder&, Args a) { broadcast_in_dim(a[0], {2, 4}, {0, 1}); });
  ExpectRefusal(
      {kF}, "stablehlo.reshape: tensor<2x3xf32> and dims [5] have different numbers of elements",
      [](Builder&, Args a) { reshape(a[0], {5}); });
  ExpectRefusal({kF}, "stablehlo.reshape: dims must not be negative, got [-2, -3]",
                [](Builder&, Args a) { reshape(a[0], {-2, -3}); });
  ExpectRefusal({kF},
                "stablehlo.transpose: permutation must be distinct and within [0, 2), got [1, 1]",
                [](Builder&, Args a) { transpose(a[0], {1, 1}); });
  ExpectRefusal(
      {kF},
      "stablehlo.slice: start [0, 0], limit [2, 4], strides [1, 1] do not fit tensor<2x3xf32>",
      [](Builder&, Args a) { slice(a[0], {0, 0}, {2, 4}, {1, 1}); });
  ExpectRefusal(
      {kF, kStart},
      "stablehlo.dynamic_slice: needs one start for each dimension of tensor<2x3xf32>, got 1",
      [](Builder&, Args a) { dynamic_slice(a[0], a.subspan(1), {1, 1}); });
  ExpectRefusal(
      {kF, kStart}, "stablehlo.dynamic_slice: slice_sizes [3, 1] do not fit tensor<2x3xf32>",
      [](Builder&, Args a) { dynamic_slice(a[0], std::vector<Value>{a[1], a[1]}, {3, 1}); });
  ExpectRefusal(
      {kF, kStart, {DType::kF32, {3, 3}}},
      "stablehlo.dynamic_update_slice: update tensor<3x3xf32> does not fit into tensor<2x3xf32>",
      [](Builder&, Args a) { dynamic_update_slice(a[0], a[2], std::vector<Value>{a[1], a[1]}); });
  ExpectRefusal({kF}, "stablehlo.pad: padding_value must have rank 0, got tensor<2x3xf32>",
                [](Builder&, Args a) { pad(a[0], a[0], {0, 0}, {0, 0}, {0, 0}); });
  ExpectRefusal(
      {kF, {DType::kF32, {}}},
      "stablehlo.pad: low [-3, 0], high [0, 0], interior [0, 0] do not fit tensor<2x3xf32>",
      [](Builder&, Args a) { pad(a[0], a[1], {-3, 0}, {0, 0}, {0, 0}); });
  ExpectRefusal(
      {kF, {DType::kF32, {3, 3}}},
      "stablehlo.concatenate: operands must agree except in dimension 1, got tensor<2x3xf32> and "
      "tensor<3x3xf32>",
      [](Builder&, Args a) { concatenate(a, 1); });
  ExpectRefusal({kF}, "stablehlo.concatenate: dimension 2 is out of range for tensor<2x3xf32>",
                [](Builder&, Args a) { concatenate(a, 2); });
  ExpectRefusal({kF},
                "stablehlo.reverse: dimensions must be distinct and within [0, 2), got [0, 0]",
                [](Builder&, Args a) { reverse(a[0], {0, 0}); });
}

TEST(ShapeTest, ReshapesOfReshapesFold) {
  Builder b;
  Value x = b.Argument({DType::kF32, {2, 3}});
  Value flat = reshape(x, {6});
  EXPECT_EQ(reshape(flat, {2, 3}).id(), x.id());
  EXPECT_EQ(Unreshaped(reshape(flat, {3, 2})).id(), x.id());
  EXPECT_EQ(Unreshaped(x).id(), x.id());
  EXPECT_EQ(Unreshaped(transpose(flat, {0})).id(), x.id());
  Value wide = convert(flat, DType::kF64);  // before the flattening
  EXPECT_EQ(wide.dims(), (Dims{6}));
  EXPECT_EQ(Unreshaped(wide).dims(), (Dims{2, 3}));
}

TEST(ShapeTest, MergedDims) {
  using Parts = std::vector<Dims>;
  EXPECT_EQ(MergedDims({2, 3, 4}, {6, 4}), (Parts{{0, 1}, {2}}));
  EXPECT_EQ(MergedDims({2, 3, 4}, {24}), (Parts{{0, 1, 2}}));
  EXPECT_EQ(MergedDims({2, 1, 3}, {2, 3}), (Parts{{0}, {1, 2}}));
  EXPECT_EQ(MergedDims({2, 3, 1}, {6}), (Parts{{0, 1, 2}}));
  EXPECT_EQ(MergedDims({6, 4}, {2, 3, 4}), std::nullopt);  // splits
  EXPECT_EQ(MergedDims({2, 6}, {4, 3}), std::nullopt);
  EXPECT_EQ(MergedDims({6}, {6, 1}), std::nullopt);
  EXPECT_EQ(MergedDims({0, 3}, {0}), std::nullopt);
}

}  // namespace
}  // namespace torch_tpu::shlo
