// Programs of the fused inference paths of attention and of the encoder layer.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

constexpr int64_t kBatch = 2, kLength = 3, kEmbed = 8, kHeads = 2, kHidden = 16;
const Dims kInput = {kBatch, kLength, kEmbed};

TestCall& Projections(TestCall& c, DType dtype) {
  c.Tensor(dtype, {3 * kEmbed, kEmbed}).Tensor(dtype, {3 * kEmbed});
  return c.Tensor(dtype, {kEmbed, kEmbed}).Tensor(dtype, {kEmbed});
}

// mask_type says what `mask` is: 0 of queries and keys, 1 padding of the keys.
TestCall& Attention(TestCall& c, const Dims& mask, bool weights, bool average, int64_t mask_type) {
  for (int i = 0; i < 3; ++i) c.Tensor(DType::kF32, kInput);
  Projections(c.Int(kEmbed).Int(kHeads), DType::kF32);
  if (mask.empty()) {
    c.None();
  } else {
    c.Tensor(DType::kPred, mask);
  }
  return c.Bool(weights).Bool(average).Int(mask_type);
}

std::string AttentionText(const Dims& mask, bool weights, bool average, int64_t mask_type = 0) {
  TestCall c("aten::_native_multi_head_attention");
  return Attention(c, mask, weights, average, mask_type).Text();
}

TestCall& Encoder(TestCall& c, DType dtype, bool gelu, bool norm_first) {
  Projections(c.Tensor(dtype, kInput).Int(kEmbed).Int(kHeads), dtype);
  c.Bool(gelu).Bool(norm_first).Constant(1e-5);
  for (int i = 0; i < 4; ++i) c.Tensor(dtype, {kEmbed});
  c.Tensor(dtype, {kHidden, kEmbed}).Tensor(dtype, {kHidden});
  c.Tensor(dtype, {kEmbed, kHidden}).Tensor(dtype, {kEmbed});
  return c.None().None();
}

std::string EncoderText(DType dtype, bool gelu, bool norm_first) {
  TestCall c("aten::_transformer_encoder_layer_fwd");
  return Encoder(c, dtype, gelu, norm_first).Text();
}

int Count(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(TransformerTest, WeightsAreGivenWhenAskedFor) {
  EXPECT_TRUE(Contains(AttentionText({}, false, true), "-> (tensor<2x3x8xf32>) {"));
  EXPECT_TRUE(
      Contains(AttentionText({}, true, true), "-> (tensor<2x3x8xf32>, tensor<2x3x3xf32>) {"));
  EXPECT_TRUE(
      Contains(AttentionText({}, true, false), "-> (tensor<2x3x8xf32>, tensor<2x2x3x3xf32>) {"));
}

TEST(TransformerTest, AttentionIsSixProducts) {
  // Three projections in, scores, mixture, one projection out.
  EXPECT_EQ(Count(AttentionText({}, false, true), "\"stablehlo.dot_general\""), 6);
}

TEST(TransformerTest, PaddingMasksKeysOfEachBatch) {
  const std::string padding = AttentionText({kBatch, kLength}, false, true, 1);
  EXPECT_TRUE(Contains(padding, "(tensor<2x3xi1>) -> tensor<2x1x1x3xi1>")) << padding;
  const std::string square = AttentionText({kLength, kLength}, false, true, 0);
  EXPECT_TRUE(Contains(square, "(tensor<3x3xi1>) -> tensor<2x2x3x3xi1>")) << square;
}

TEST(TransformerTest, EncoderLayerIsOneProgram) {
  const std::string text = EncoderText(DType::kF32, false, false);
  EXPECT_TRUE(Contains(text, "-> (tensor<2x3x8xf32>) {")) << text;
  // Attention and two products of the feed-forward part; two normalisations.
  EXPECT_EQ(Count(text, "\"stablehlo.dot_general\""), 8);
  EXPECT_EQ(Count(text, "\"stablehlo.rsqrt\""), 2);
  EXPECT_FALSE(Contains(text, "chlo.erf"));
}

TEST(TransformerTest, ActivationIsChosenByItsFlag) {
  EXPECT_TRUE(Contains(EncoderText(DType::kF32, true, false), "chlo.erf"));
}

TEST(TransformerTest, NormalisingFirstMovesTheNormalisation) {
  const std::string before = EncoderText(DType::kF32, false, true);
  const std::string after = EncoderText(DType::kF32, false, false);
  EXPECT_LT(before.find("stablehlo.rsqrt"), before.find("stablehlo.dot_general"));
  EXPECT_GT(after.find("stablehlo.rsqrt"), after.find("stablehlo.dot_general"));
}

TEST(TransformerTest, HalfTypesAccumulateInFloat32) {
  const std::string text = EncoderText(DType::kBF16, false, false);
  EXPECT_TRUE(Contains(text, "-> (tensor<2x3x8xbf16>) {")) << text;
  EXPECT_TRUE(Contains(text, "(tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xf32>"))
      << text;
}

}  // namespace
}  // namespace torch_tpu::ops
