// The forms that lowerings use: rank-0 broadcasting, numbers, shapes, reductions.
#include "shlo/sugar.h"

#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

const TensorType kF{DType::kF32, {2, 3}};
const TensorType kI{DType::kS32, {2, 3}};
const TensorType kNumber{DType::kF64, {}};
const TensorType kP{DType::kPred, {2, 3}};

TEST(SugarTest, RankZeroIsConvertedAndBroadcast) {
  const std::string fitted =
      R"(%0 = "stablehlo.convert"(%arg1) : (tensor<f64>) -> tensor<f32>)"
      "\n"
      R"(%1 = "stablehlo.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>)"
      "\n";
  const std::string types = " : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>";
  ExpectGolden(
      {kF, kNumber},
      {{fitted + "%2 = \"stablehlo.subtract\"(%arg0, %1)" + types,
        [](Builder&, Args a) { a[0] - a[1]; }},
       {fitted + "%2 = \"stablehlo.divide\"(%1, %arg0)" + types,
        [](Builder&, Args a) { a[1] / a[0]; }},
       {R"(%0 = "stablehlo.add"(%arg1, %arg1) : (tensor<f64>, tensor<f64>) -> tensor<f64>)",
        [](Builder&, Args a) { a[1] + a[1]; }}});
}

TEST(SugarTest, NumbersTakeTheOtherSidesType) {
  const std::string constant =
      R"(%0 = "stablehlo.constant"() {value = dense<2> : tensor<2x3xi32>} : () -> tensor<2x3xi32>)";
  ExpectGolden(
      {kI},
      {{constant +
            "\n%1 = \"stablehlo.multiply\"(%arg0, %0) : (tensor<2x3xi32>, tensor<2x3xi32>) -> "
            "tensor<2x3xi32>",
        [](Builder&, Args a) { a[0] * 2.0; }},
       {constant +
            "\n%1 = \"stablehlo.subtract\"(%0, %arg0) : (tensor<2x3xi32>, tensor<2x3xi32>) -> "
            "tensor<2x3xi32>",
        [](Builder&, Args a) { 2.0 - a[0]; }}});
}

struct Comparison {
  const char* direction;
  Value (*op)(Value, Value);
  Value (*number)(Value, double);
};

TEST(SugarTest, Comparisons) {
  const Comparison kCases[] = {
      {"EQ", [](Value a, Value b) { return a == b; }, [](Value a, double b) { return a == b; }},
      {"NE", [](Value a, Value b) { return a != b; }, [](Value a, double b) { return a != b; }},
      {"LT", [](Value a, Value b) { return a < b; }, [](Value a, double b) { return a < b; }},
      {"LE", [](Value a, Value b) { return a <= b; }, [](Value a, double b) { return a <= b; }},
      {"GT", [](Value a, Value b) { return a > b; }, [](Value a, double b) { return a > b; }},
      {"GE", [](Value a, Value b) { return a >= b; }, [](Value a, double b) { return a >= b; }},
  };
  for (const Comparison& c : kCases) {
    const std::string direction = std::string("comparison_direction ") + c.direction + ">";
    EXPECT_NE(BodyText({kF}, [&](Builder&, Args a) { c.op(a[0], a[0]); }).find(direction),
              std::string::npos);
    EXPECT_NE(BodyText({kF}, [&](Builder&, Args a) { c.number(a[0], 1); }).find(direction),
              std::string::npos);
  }
}

TEST(SugarTest, LogicalOperators) {
  ExpectGolden(
      {kP, kP},
      {{R"(%0 = "stablehlo.and"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { a[0] & a[1]; }},
       {R"(%0 = "stablehlo.or"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { a[0] | a[1]; }},
       {R"(%0 = "stablehlo.or"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { a[0] + a[1]; }},
       {R"(%0 = "stablehlo.xor"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { a[0] ^ a[1]; }},
       {R"(%0 = "stablehlo.not"(%arg0) : (tensor<2x3xi1>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { !a[0]; }}});
  static_assert(!std::is_constructible_v<bool, Negation>, "`if (!v)` must not compile");
  // `!x` of numbers is x == 0.
  BodyText({kI}, [](Builder&, Args a) { EXPECT_EQ((!a[0]).type(), kP); });
}

TEST(SugarTest, WhereBroadcastsAnySide) {
  BodyText({kF, kNumber, {DType::kPred, {}}, kP}, [](Builder&, Args a) {
    EXPECT_EQ(where(a[3], a[0], a[1]).type(), kF);
    EXPECT_EQ(where(a[3], a[1], a[0]).type(), kF);
    EXPECT_EQ(where(a[2], a[0], 0.0).type(), kF);
    EXPECT_EQ(where(a[2], 1.0, a[0]).type(), kF);
    EXPECT_EQ(where(a[3], a[1], a[1]).type(), (TensorType{DType::kF64, {2, 3}}));
    EXPECT_EQ(where(a[0], a[1], 2.0).type(), (TensorType{DType::kF64, {2, 3}}))
        << "pred is made bool";
  });
}

TEST(SugarTest, MaxAndMinOfBool) {
  ExpectGolden(
      {kP},
      {{R"(%0 = "stablehlo.or"(%arg0, %arg0) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { max(a[0], a[0]); }},
       {R"(%0 = "stablehlo.and"(%arg0, %arg0) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { min(a[0], a[0]); }}});
}

TEST(SugarTest, IsNan) {
  ExpectGolden(
      {kF, kI},
      {{R"(%0 = "stablehlo.compare"(%arg0, %arg0) {comparison_direction = #stablehlo<comparison_direction NE>, )"
        R"(compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { is_nan(a[0]); }},
       {R"(%0 = "stablehlo.constant"() {value = dense<false> : tensor<2x3xi1>} : () -> tensor<2x3xi1>)",
        [](Builder&, Args a) { is_nan(a[1]); }}});
}

TEST(SugarTest, Shapes) {
  BodyText({kF, {DType::kF32, {}}}, [](Builder&, Args a) {
    EXPECT_EQ(broadcast_to(a[0], {4, 2, 3}).dims(), (Dims{4, 2, 3}));
    EXPECT_EQ(broadcast_to(unsqueeze(a[0], 1), {2, 5, 3}).dims(), (Dims{2, 5, 3}));
    EXPECT_EQ(unsqueeze(a[0], -1).dims(), (Dims{2, 3, 1}));
    EXPECT_EQ(unsqueeze(a[1], 0).dims(), (Dims{1}));
    EXPECT_EQ(squeeze(unsqueeze(a[0], 0), 0).dims(), (Dims{2, 3}));
    EXPECT_EQ(squeeze(a[1], -1).dims(), (Dims{}));
    EXPECT_EQ(swap_dims(a[0], -1, 0).dims(), (Dims{3, 2}));
    EXPECT_EQ(swap_dims(a[1], 0, -1).id(), a[1].id());
    EXPECT_EQ(slice_dim(a[0], -1, 0, 3, 2).dims(), (Dims{2, 2}));
    EXPECT_EQ(index_like(a[0], -1).type(), (TensorType{DType::kS64, {2, 3}}));
    EXPECT_EQ(index_like(a[1], 0, DType::kS32).type(), (TensorType{DType::kS32, {}}));
  });
  EXPECT_EQ(wrap_dim(-1, 3), 2);
  EXPECT_EQ(wrap_dim(-1, 0), 0);
  const std::vector<Dims> all = {{3, 1}, {}, {2, 1, 4}, {1}};
  EXPECT_EQ(broadcast_dims(all), (Dims{2, 3, 4}));
  const std::vector<Dims> empty = {{0}, {1}};
  EXPECT_EQ(broadcast_dims(empty), (Dims{0}));
}

TEST(SugarTest, Reductions) {
  BodyText({kF, {DType::kF32, {}}, kI}, [](Builder&, Args a) {
    EXPECT_EQ(reduce_sum(a[0], {-1}).dims(), (Dims{2}));
    EXPECT_EQ(reduce_prod(a[0], {1, 0}, true).dims(), (Dims{1, 1}));
    EXPECT_EQ(reduce_max(a[0], {0}, true).dims(), (Dims{1, 3}));
    EXPECT_EQ(reduce_min(a[0], {}).id(), a[0].id());
    EXPECT_EQ(reduce_sum(a[1], {0}).id(), a[1].id()) << "rank 0 counts as one dimension";
    EXPECT_EQ(reduce_any(a[2], {1}).type(), (TensorType{DType::kPred, {2}}));
    EXPECT_EQ(reduce_all(a[2], {0, 1}).type(), (TensorType{DType::kPred, {}}));
  });
}

TEST(SugarTest, Opmath) {
  EXPECT_EQ(opmath_dtype(DType::kBF16), DType::kF32);
  EXPECT_EQ(opmath_dtype(DType::kF8E5M2), DType::kF32);
  EXPECT_EQ(opmath_dtype(DType::kF64), DType::kF64);
  EXPECT_EQ(opmath_dtype(DType::kS8), DType::kS8);
  BodyText({{DType::kF16, {2}}},
           [](Builder&, Args a) { EXPECT_EQ(opmath(a[0]).dtype(), DType::kF32); });
}

TEST(SugarTest, Refusals) {
  ExpectRefusal(
      {},
      "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
      [](Builder&, Args) { broadcast_dims(std::vector<Dims>{{2, 3}, {4}}); });
  ExpectRefusal({}, "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
                [](Builder&, Args) { wrap_dim(2, 2); });
  ExpectRefusal({kF}, "broadcast_to: tensor<2x3xf32> has more dimensions than [3]",
                [](Builder&, Args a) { broadcast_to(a[0], {3}); });
  ExpectRefusal({kF}, "squeeze: dimension -1 of tensor<2x3xf32> is not 1",
                [](Builder&, Args a) { squeeze(a[0], -1); });
  ExpectRefusal({kF}, "reduction: dims must be distinct and within [0, 2), got [1, 1]",
                [](Builder&, Args a) { reduce_sum(a[0], {1, -1}); });
  ExpectRefusal({kP}, "reduce_sum: operand must be integer or float or complex, got tensor<2x3xi1>",
                [](Builder&, Args a) { reduce_sum(a[0], {0}); });
  ExpectRefusal({kI}, "stablehlo.constant: 0.500000 is no i32",
                [](Builder&, Args a) { a[0] * 0.5; });
  ExpectRefusal(
      {kF, kI},
      "stablehlo.add: operands must have equal types, got tensor<2x3xf32> and tensor<2x3xi32>",
      [](Builder&, Args a) { a[0] + a[1]; });
  ExpectRefusal({}, "complex numbers have no largest value",
                [](Builder& b, Args) { max_value(b, DType::kC64); });
  ExpectRefusal({{DType::kF32, {}}}, "slice_dim: a rank-0 value cannot be sliced",
                [](Builder&, Args a) { slice_dim(a[0], 0, 0, 1); });
}

}  // namespace
}  // namespace torch_tpu::shlo
