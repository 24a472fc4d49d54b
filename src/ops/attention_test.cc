// Programs of attention and of recurrent cells.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

constexpr char kForward[] = "aten::_scaled_dot_product_fused_attention_overrideable";

// The call class of tests has no random state: what can be seen without one is the refusal.
TEST(AttentionTest, HeadsMustBeAMultiple) {
  TestCall c(kForward);
  c.Tensor(DType::kF32, {1, 3, 4, 8}).Tensor(DType::kF32, {1, 2, 4, 8});
  c.Tensor(DType::kF32, {1, 2, 4, 8}).None().Constant(0).Bool(false).Bool(false).None();
  for (int i = 0; i < 7; ++i) c.Out(DType::kF32, {1, 3, 4, 8});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text,
                       "number of query heads (3) to be a multiple of the number of key "
                       "heads (2)"))
      << text;
}

TestCall& Backward(TestCall& c, DType dtype, double dropout) {
  const Dims q = {1, 4, 5, 8}, k = {1, 2, 6, 8};
  c.Tensor(dtype, q).Tensor(dtype, q).Tensor(dtype, k).Tensor(dtype, k).None();
  c.Arg(std::vector<bool>{true, true, true, false}).Tensor(dtype, q).Tensor(DType::kF32, {1, 4, 5});
  c.None().None().Int(5).Int(6).Constant(dropout).Bool(true);
  c.Tensor(DType::kS64, {}).Tensor(DType::kS64, {}).None();
  return c.Out(dtype, q).Out(dtype, k).Out(dtype, k).Out(DType::kInvalid, {});
}

TEST(AttentionTest, KeyHeadsAreNotRepeated) {
  TestCall c("aten::_scaled_dot_product_fused_attention_overrideable_backward");
  const std::string text = Backward(c, DType::kBF16, 0).Text();
  EXPECT_TRUE(Contains(text,
                       "(tensor<1x2x10x8xbf16>, tensor<1x2x6x8xbf16>) -> "
                       "tensor<1x2x10x6xf32>"))
      << text;
  EXPECT_FALSE(Contains(text, "rng_bit_generator")) << text;
}

TEST(AttentionTest, BackwardDrawsTheMaskOfForwardAgain) {
  TestCall c("aten::_scaled_dot_product_fused_attention_overrideable_backward");
  EXPECT_TRUE(Contains(Backward(c, DType::kF32, 0.25).Text(), "rng_bit_generator"));
}

TEST(TransformerTest, WeightsAreGivenOnlyWhenAskedFor) {
  for (bool need : {false, true}) {
    TestCall c("aten::_native_multi_head_attention");
    for (int i = 0; i < 3; ++i) c.Tensor(DType::kF32, {2, 5, 8});
    c.Int(8).Int(2).Tensor(DType::kF32, {24, 8}).Tensor(DType::kF32, {24});
    c.Tensor(DType::kF32, {8, 8}).Tensor(DType::kF32, {8}).None().Bool(need).Bool(true).None();
    EXPECT_FALSE(c.Text().starts_with("error"));
    EXPECT_EQ(c.outs()[0].dims, (Dims{2, 5, 8}));
    EXPECT_EQ(c.outs()[1], need ? (TensorType{DType::kF32, {2, 5, 5}}) : TensorType{});
  }
}

TEST(RnnTest, LstmNeedsNoBias) {
  TestCall c("aten::_thnn_fused_lstm_cell");
  c.Tensor(DType::kF32, {2, 12}).Tensor(DType::kF32, {2, 12}).Tensor(DType::kF32, {2, 3});
  const std::string text = c.None().None().Text();
  EXPECT_TRUE(Contains(text, "-> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x12xf32>)")) << text;
}

TEST(RnnTest, LstmWorkspaceHoldsTheGates) {
  TestCall c("aten::_thnn_fused_lstm_cell");
  c.Tensor(DType::kF32, {2, 12}).Tensor(DType::kF32, {2, 12}).Tensor(DType::kF32, {2, 3});
  c.None().None();
  c.Out(DType::kF32, {2, 3}).Out(DType::kF32, {2, 3}).Out(DType::kF32, {2, 12});
  EXPECT_EQ(c.Ops(),
            "add slice logistic slice logistic slice tanh slice logistic multiply multiply add "
            "tanh multiply concatenate");
}

TEST(RnnTest, GruGivesItsShapes) {
  TestCall c("aten::_thnn_fused_gru_cell");
  c.Tensor(DType::kF32, {2, 9}).Tensor(DType::kF32, {2, 9}).Tensor(DType::kF32, {2, 3});
  c.Tensor(DType::kF32, {9}).Tensor(DType::kF32, {9});
  EXPECT_FALSE(c.Text().starts_with("error"));
  EXPECT_EQ(c.outs()[0].dims, (Dims{2, 3}));
  EXPECT_EQ(c.outs()[1].dims, (Dims{2, 15}));
}

}  // namespace
}  // namespace torch_tpu::ops
