// Golden lines and refusals of dot_general and convolution.
#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

const TensorType kImage{DType::kF32, {2, 6, 8, 8}};
const TensorType kKernel{DType::kF32, {4, 3, 3, 3}};
const ConvDims kNchw{0, 1, {2, 3}, 1, 0, {2, 3}, 0, 1, {2, 3}};
const ConvWindow kWindow{{2, 1}, {1, 0}, {1, 0}, {1, 1}, {1, 2}, {}};

TEST(DotConvTest, DotGeneral) {
  ExpectGolden(
      {{DType::kBF16, {5, 2, 3}}, {DType::kBF16, {3, 5, 4}}, {DType::kF32, {3}}},
      {{R"(%0 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<)"
        R"(lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], )"
        R"(rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, )"
        R"(#stablehlo<precision HIGHEST>]} : (tensor<5x2x3xbf16>, tensor<3x5x4xbf16>) -> tensor<5x2x4xf32>)",
        [](Builder&, Args a) {
          dot_general(a[0], a[1], {{0}, {1}, {2}, {0}}, Precision::kHighest, DType::kF32);
        }},
       {R"(%0 = "stablehlo.dot_general"(%arg2, %arg2) {dot_dimension_numbers = #stablehlo.dot<)"
        R"(lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = )"
        R"([#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>)",
        [](Builder&, Args a) { dot_general(a[2], a[2], {{}, {}, {0}, {0}}); }}});
}

TEST(DotConvTest, Convolution) {
  ExpectGolden(
      {kImage, kKernel},
      {{R"(%0 = "stablehlo.convolution"(%arg0, %arg1) {window_strides = array<i64: 2, 1>, )"
        R"(padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, )"
        R"(rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, false>, )"
        R"(dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, )"
        R"(feature_group_count = 2 : i64, batch_group_count = 1 : i64, precision_config = )"
        R"([#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]} : )"
        R"((tensor<2x6x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x4xf32>)",
        [](Builder&, Args a) {
          convolution(a[0], a[1], kNchw, kWindow, 2, 1, Precision::kHigh);
        }}});
}

TEST(DotConvTest, OtherLayoutsAndNoSpatialDimension) {
  const std::string text =
      BodyText({{DType::kF32, {8, 2, 3}}, {DType::kF32, {2, 3, 4}}}, [](Builder&, Args a) {
        ConvDims dims{1, 2, {0}, 1, 2, {0}, 1, 2, {0}};
        EXPECT_EQ(convolution(a[0], a[1], dims, {{1}, {0}, {0}, {2}, {1}, {true}}).dims(),
                  (Dims{14, 2, 4}));
      });
  EXPECT_NE(text.find("#stablehlo.conv<[0, b, f]x[0, i, o]->[0, b, f]>"), std::string::npos)
      << text;
  EXPECT_NE(text.find("window_reversal = array<i1: true>"), std::string::npos) << text;
  BodyText({{DType::kF32, {2, 3}}, {DType::kF32, {4, 3}}}, [](Builder&, Args a) {
    EXPECT_EQ(convolution(a[0], a[1], {0, 1, {}, 1, 0, {}, 0, 1, {}}, {}).dims(), (Dims{2, 4}));
  });
}

TEST(DotConvTest, Refusals) {
  ExpectRefusal({{DType::kF32, {2, 3}}, {DType::kF32, {4, 5}}},
                "stablehlo.dot_general: contracting dimensions [1] of tensor<2x3xf32> and [0] of "
                "tensor<4x5xf32> do "
                "not match",
                [](Builder&, Args a) { dot_general(a[0], a[1], {{}, {}, {1}, {0}}); });
  ExpectRefusal({{DType::kF32, {2, 3}}, {DType::kF64, {3}}},
                "stablehlo.dot_general: operands must have equal element types, got "
                "tensor<2x3xf32> and tensor<3xf64>",
                [](Builder&, Args a) { dot_general(a[0], a[1], {{}, {}, {1}, {0}}); });
  ExpectRefusal(
      {{DType::kF32, {2, 3}}, {DType::kF32, {3}}},
      "stablehlo.dot_general: dimensions of lhs must be distinct and within [0, 2), got [1, 1]",
      [](Builder&, Args a) { dot_general(a[0], a[1], {{1}, {0}, {1}, {0}}); });
  ExpectRefusal({kImage, kKernel},
                "stablehlo.convolution: input features must be kernel input features times 1, got "
                "tensor<2x6x8x8xf32> and kernel tensor<4x3x3x3xf32>",
                [](Builder&, Args a) { convolution(a[0], a[1], kNchw, kWindow); });
  ExpectRefusal({kImage, kKernel},
                "stablehlo.convolution: one of feature and batch groups must be 1 and the other at "
                "least 1, got 2 and 2",
                [](Builder&, Args a) { convolution(a[0], a[1], kNchw, kWindow, 2, 2); });
  ExpectRefusal({kImage, {DType::kF32, {3, 3}}},
                "stablehlo.convolution: operands must have rank 4, got tensor<2x6x8x8xf32> and "
                "tensor<3x3xf32>",
                [](Builder&, Args a) { convolution(a[0], a[1], kNchw, kWindow); });
  ExpectRefusal({kImage, kKernel},
                "stablehlo.convolution: window_strides must have 2 entries, got [1]",
                [](Builder&, Args a) {
                  ConvWindow window = kWindow;
                  window.strides = {1};
                  convolution(a[0], a[1], kNchw, window, 2);
                });
  ExpectRefusal({kImage, kKernel},
                "stablehlo.convolution: dimension numbers must be distinct and within [0, 4), got "
                "[0, 0, 2, 3]",
                [](Builder&, Args a) {
                  ConvDims dims = kNchw;
                  dims.input_feature = 0;
                  convolution(a[0], a[1], dims, kWindow, 2);
                });
}

}  // namespace
}  // namespace torch_tpu::shlo
