// Programs of pointwise operators: where PyTorch's numbers differ from StableHLO's.
#include "ops/pointwise.h"

#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

// The operations of a unary operator on a [2, 3] tensor.
std::string UnaryOps(const char* name, DType in, DType out) {
  TestCall c(name);
  return c.Tensor(in, {2, 3}).Out(out, {2, 3}).Common(in).Ops();
}

std::string BinaryOps(const char* name, DType in, DType out) {
  TestCall c(name);
  return c.Tensor(in, {2}).Tensor(in, {2}).Out(out, {2}).Common(in).Ops();
}

// --- operands ------------------------------------------------------------------------------------

TEST(PointwiseTest, GoldenProgramOfAdd) {
  TestCall c("aten::add.Tensor");
  c.Tensor(DType::kF32, {2, 3}).Tensor(DType::kF32, {3}).Constant(1);
  EXPECT_EQ(c.Out(DType::kF32, {2, 3}).Text(),
            R"(module @program {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) -> (tensor<2x3xf32>) {
    %0 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32> loc("aten::add.Tensor")
    %2 = "stablehlo.add"(%arg0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("aten::add.Tensor")
    "func.return"(%2) : (tensor<2x3xf32>) -> ()
  }
}
)");
}

TEST(PointwiseTest, ShortFloatsAreComputedInFloat32) {
  EXPECT_EQ(UnaryOps("aten::exp", DType::kBF16, DType::kBF16), "convert exponential convert");
  EXPECT_EQ(UnaryOps("aten::exp", DType::kS64, DType::kF32), "convert exponential");
}

TEST(PointwiseTest, ANumberIsRoundedToTheShortFloatBeforeItIsAdded) {
  TestCall c("aten::add.Tensor");
  c.Tensor(DType::kBF16, {2}).Number().Constant(1).Out(DType::kBF16, {2});
  EXPECT_EQ(c.Ops(), "convert reduce_precision broadcast_in_dim convert add convert");
}

TEST(PointwiseTest, ANumberKeepsItsPrecisionWhenItIsMultiplied) {
  TestCall c("aten::mul.Tensor");
  c.Tensor(DType::kBF16, {2}).Number().Out(DType::kBF16, {2});
  EXPECT_FALSE(Contains(c.Ops(), "reduce_precision"));
}

TEST(PointwiseTest, NumbersAreOperands) {
  TestCall c("aten::add.Tensor");
  c.Tensor(DType::kF32, {2}).Tensor(DType::kF32, {2}).Number().Out(DType::kF32, {2});
  EXPECT_TRUE(Contains(c.Text(), "%arg2: tensor<f64>"));
}

// --- unary ---------------------------------------------------------------------------------------

TEST(PointwiseTest, SignOfNanIsZero) {
  EXPECT_EQ(UnaryOps("aten::sign", DType::kF32, DType::kF32),
            "compare convert compare convert subtract");
}

TEST(PointwiseTest, UnsignedIntegersAreTheirAbsoluteValues) {
  EXPECT_EQ(UnaryOps("aten::abs", DType::kU8, DType::kU8), "");
  EXPECT_EQ(UnaryOps("aten::abs", DType::kC64, DType::kF32), "abs");
}

TEST(PointwiseTest, SignBitLooksAtTheBits) {
  EXPECT_EQ(UnaryOps("aten::signbit", DType::kF16, DType::kPred), "bitcast_convert compare");
  EXPECT_EQ(UnaryOps("aten::signbit", DType::kU8, DType::kPred), "");
}

TEST(PointwiseTest, IntegersAreWhole) {
  for (const char* name : {"aten::ceil", "aten::floor", "aten::round", "aten::trunc"}) {
    EXPECT_EQ(UnaryOps(name, DType::kS32, DType::kS32), "") << name;
  }
  EXPECT_EQ(UnaryOps("aten::round", DType::kF32, DType::kF32), "round_nearest_even");
}

TEST(PointwiseTest, LargestFiniteNumbers) {
  EXPECT_EQ(LargestFinite(DType::kF16), 65504.0);
  EXPECT_EQ(LargestFinite(DType::kBF16), 3.3895313892515355e38);
  EXPECT_EQ(LargestFinite(DType::kF32), 3.4028234663852886e38);
  EXPECT_THROW(LargestFinite(DType::kS32), shlo::BuildError);
}

// --- binary --------------------------------------------------------------------------------------

TEST(PointwiseTest, IntegerFloorDivisionCorrectsTheSign) {
  // The divisor is never zero: compare and select before, select after.
  EXPECT_EQ(BinaryOps("aten::floor_divide", DType::kU8, DType::kU8),
            "compare select divide select");
  EXPECT_EQ(BinaryOps("aten::floor_divide", DType::kS32, DType::kS32),
            "compare select divide select compare select remainder select compare compare and "
            "compare compare compare and subtract select");
}

TEST(PointwiseTest, PowersOfConstantNumbersAreShort) {
  auto ops = [](double exponent) {
    TestCall c("aten::pow.Tensor_Scalar");
    return c.Tensor(DType::kF32, {2}).Constant(exponent).Out(DType::kF32, {2}).Ops();
  };
  EXPECT_EQ(ops(1), "");
  EXPECT_EQ(ops(2), "multiply");
  EXPECT_EQ(ops(-1), "divide");
  EXPECT_EQ(ops(0.5), "sqrt");
  EXPECT_TRUE(Contains(ops(0), "power"));
}

TEST(PointwiseTest, IntegersHaveNoNegativeIntegerPowers) {
  auto ops = [](double exponent) {
    TestCall c("aten::pow.Tensor_Scalar");
    return c.Tensor(DType::kS64, {2}).Constant(exponent).Out(DType::kS64, {2}).Ops();
  };
  EXPECT_EQ(ops(2), "multiply");
  EXPECT_TRUE(Contains(ops(-2), "negative integer powers")) << ops(-2);
}

TEST(PointwiseTest, IntegerPowersMultiply) {
  const std::string ops = BinaryOps("aten::pow.Tensor_Tensor", DType::kS64, DType::kS64);
  EXPECT_TRUE(Contains(ops, "while")) << ops;
  EXPECT_FALSE(Contains(ops, "power")) << ops;
}

TEST(PointwiseTest, TruncatedQuotientsAreRoundedFirst) {
  auto ops = [](DType dtype) {
    TestCall c("aten::div.Tensor_mode");
    return c.Tensor(dtype, {2}).Tensor(dtype, {2}).String("trunc").Out(dtype, {2}).Ops();
  };
  EXPECT_TRUE(Contains(ops(DType::kF16), "divide reduce_precision"));
  EXPECT_FALSE(Contains(ops(DType::kF32), "reduce_precision"));
  EXPECT_EQ(ops(DType::kS32), "compare select divide select");
}

// --- ternary -------------------------------------------------------------------------------------

TEST(PointwiseTest, ClampLeavesOutAMissingBound) {
  TestCall c("aten::clamp");
  c.Tensor(DType::kF32, {2}).None().Number().Out(DType::kF32, {2});
  EXPECT_EQ(c.Ops(), "convert broadcast_in_dim minimum");
}

TEST(PointwiseTest, AddcmulLeavesOutAFactorOfOne) {
  auto ops = [](double value) {
    TestCall c("aten::addcmul");
    for (int i = 0; i < 3; ++i) c.Tensor(DType::kF32, {2});
    return c.Constant(value).Out(DType::kF32, {2}).Ops();
  };
  EXPECT_EQ(ops(1), "multiply add");
  EXPECT_TRUE(ops(2).starts_with("multiply"));
  EXPECT_NE(ops(2), ops(1));
}

TEST(PointwiseTest, MaskedFillConvertsItsValue) {
  TestCall c("aten::masked_fill.Scalar");
  c.Tensor(DType::kS32, {2, 3}).Tensor(DType::kPred, {3}).Number().Out(DType::kS32, {2, 3});
  EXPECT_EQ(c.Ops(), "broadcast_in_dim convert broadcast_in_dim select");
}

// --- comparisons and bits ------------------------------------------------------------------------

TEST(CompareTest, ComparesInThePromotedDtype) {
  TestCall c("aten::lt.Scalar");
  c.Tensor(DType::kF16, {2}).Number().Out(DType::kPred, {2}).Common(DType::kF16);
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "(tensor<2xf16>, tensor<2xf16>) -> tensor<2xi1>")) << text;
}

TEST(LogicalTest, TestsEachOperandInItsOwnDtype) {
  TestCall c("aten::logical_and");
  c.Tensor(DType::kF32, {2}).Tensor(DType::kS8, {2}).Out(DType::kPred, {2});
  EXPECT_EQ(c.Ops(), "compare compare and");
}

TEST(BitwiseTest, AShiftByMoreThanTheWidthLeavesTheSign) {
  EXPECT_EQ(BinaryOps("aten::bitwise_right_shift.Tensor", DType::kS32, DType::kS32),
            "compare compare or select compare select shift_right_arithmetic select");
  EXPECT_EQ(BinaryOps("aten::bitwise_right_shift.Tensor", DType::kU8, DType::kU8),
            "compare select shift_right_logical select");
}

}  // namespace
}  // namespace torch_tpu::ops
