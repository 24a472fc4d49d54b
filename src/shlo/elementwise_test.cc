// Golden lines and refusals of the elementwise ops.
#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

const TensorType kF{DType::kF32, {2, 3}};
const TensorType kI{DType::kS32, {2}};
const TensorType kP{DType::kPred, {2}};
const TensorType kC{DType::kC64, {2}};

struct NamedUnary {
  const char* text;
  Value (*op)(Value);
};

TEST(ElementwiseTest, UnaryFloat) {
  const NamedUnary kCases[] = {
      {"stablehlo.abs", abs},
      {"stablehlo.cbrt", cbrt},
      {"stablehlo.ceil", ceil},
      {"stablehlo.cosine", cosine},
      {"stablehlo.exponential", exponential},
      {"stablehlo.exponential_minus_one", exponential_minus_one},
      {"stablehlo.floor", floor},
      {"stablehlo.log", log},
      {"stablehlo.log_plus_one", log_plus_one},
      {"stablehlo.logistic", logistic},
      {"stablehlo.negate", negate},
      {"stablehlo.round_nearest_afz", round_nearest_afz},
      {"stablehlo.round_nearest_even", round_nearest_even},
      {"stablehlo.rsqrt", rsqrt},
      {"stablehlo.sign", sign},
      {"stablehlo.sine", sine},
      {"stablehlo.sqrt", sqrt},
      {"stablehlo.tan", tan},
      {"stablehlo.tanh", tanh},
      {"chlo.acos", acos},
      {"chlo.acosh", acosh},
      {"chlo.asin", asin},
      {"chlo.asinh", asinh},
      {"chlo.atan", atan},
      {"chlo.atanh", atanh},
      {"chlo.bessel_i1e", bessel_i1e},
      {"chlo.cosh", cosh},
      {"chlo.digamma", digamma},
      {"chlo.erf", erf},
      {"chlo.erf_inv", erf_inv},
      {"chlo.erfc", erfc},
      {"chlo.lgamma", lgamma},
      {"chlo.sinh", sinh},
  };
  for (const NamedUnary& c : kCases) {
    EXPECT_EQ(
        BodyText({kF}, [&](Builder&, Args a) { c.op(a[0]); }),
        "%0 = \"" + std::string(c.text) + "\"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n");
  }
}

TEST(ElementwiseTest, UnaryWithOtherTypes) {
  ExpectGolden(
      {kI, kP, kC, kF},
      {{R"(%0 = "stablehlo.count_leading_zeros"(%arg0) : (tensor<2xi32>) -> tensor<2xi32>)",
        [](Builder&, Args a) { count_leading_zeros(a[0]); }},
       {R"(%0 = "stablehlo.popcnt"(%arg0) : (tensor<2xi32>) -> tensor<2xi32>)",
        [](Builder&, Args a) { popcnt(a[0]); }},
       {R"(%0 = "stablehlo.not"(%arg1) : (tensor<2xi1>) -> tensor<2xi1>)",
        [](Builder&, Args a) { not_(a[1]); }},
       {R"(%0 = "stablehlo.abs"(%arg2) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>)",
        [](Builder&, Args a) { abs(a[2]); }},
       {R"(%0 = "stablehlo.real"(%arg2) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>)",
        [](Builder&, Args a) { real(a[2]); }},
       {R"(%0 = "stablehlo.imag"(%arg2) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>)",
        [](Builder&, Args a) { imag(a[2]); }},
       {R"(%0 = "stablehlo.is_finite"(%arg3) : (tensor<2x3xf32>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { is_finite(a[3]); }},
       {R"(%0 = "chlo.is_inf"(%arg3) : (tensor<2x3xf32>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { is_inf(a[3]); }},
       {R"(%0 = "chlo.is_neg_inf"(%arg3) : (tensor<2x3xf32>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { is_neg_inf(a[3]); }},
       {R"(%0 = "chlo.is_pos_inf"(%arg3) : (tensor<2x3xf32>) -> tensor<2x3xi1>)",
        [](Builder&, Args a) { is_pos_inf(a[3]); }},
       {R"(%0 = "stablehlo.reduce_precision"(%arg3) {exponent_bits = 8 : i32, mantissa_bits = 7 : i32})"
        R"( : (tensor<2x3xf32>) -> tensor<2x3xf32>)",
        [](Builder&, Args a) { reduce_precision(a[3], 8, 7); }}});
}

TEST(ElementwiseTest, Convert) {
  ExpectGolden({kI, kC, kF},
               {{R"(%0 = "stablehlo.convert"(%arg0) : (tensor<2xi32>) -> tensor<2xbf16>)",
                 [](Builder&, Args a) { convert(a[0], DType::kBF16); }},
                {R"(%0 = "stablehlo.real"(%arg1) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>)"
                 "\n"
                 R"(%1 = "stablehlo.convert"(%0) : (tensor<2xf32>) -> tensor<2xi8>)",
                 [](Builder&, Args a) { convert(a[1], DType::kS8); }}});
  EXPECT_EQ(BodyText({kF}, [](Builder&,
                              Args a) { EXPECT_EQ(convert(a[0], DType::kF32).id(), a[0].id()); }),
            "");
}

TEST(ElementwiseTest, BitcastConvert) {
  const TensorType bytes{DType::kU8, {2, 4}};
  ExpectGolden({kI, bytes},
               {{R"(%0 = "stablehlo.bitcast_convert"(%arg0) : (tensor<2xi32>) -> tensor<2xf32>)",
                 [](Builder&, Args a) { bitcast_convert(a[0], DType::kF32); }},
                {R"(%0 = "stablehlo.bitcast_convert"(%arg0) : (tensor<2xi32>) -> tensor<2x2xui16>)",
                 [](Builder&, Args a) { bitcast_convert(a[0], DType::kU16); }},
                {R"(%0 = "stablehlo.bitcast_convert"(%arg1) : (tensor<2x4xui8>) -> tensor<2xf32>)",
                 [](Builder&, Args a) { bitcast_convert(a[1], DType::kF32); }}});
  ExpectRefusal(
      {kI},
      "stablehlo.bitcast_convert: the last dimension must be 2 to become f64, got tensor<i32>",
      [](Builder& b, Args) { bitcast_convert(scalar(b, int64_t{1}, DType::kS32), DType::kF64); });
  ExpectRefusal({kI}, "stablehlo.bitcast_convert: tensor<2xi32> cannot be reinterpreted as i1",
                [](Builder&, Args a) { bitcast_convert(a[0], DType::kPred); });
}

TEST(ElementwiseTest, Binary) {
  struct Case {
    const char* text;
    Value (*op)(Value, Value);
  };
  const Case kFloat[] = {
      {"stablehlo.add", add},           {"stablehlo.atan2", atan2},
      {"stablehlo.divide", divide},     {"stablehlo.maximum", maximum},
      {"stablehlo.minimum", minimum},   {"stablehlo.multiply", multiply},
      {"stablehlo.power", power},       {"stablehlo.remainder", remainder},
      {"stablehlo.subtract", subtract}, {"chlo.next_after", next_after},
      {"chlo.polygamma", polygamma},    {"chlo.zeta", zeta},
  };
  for (const Case& c : kFloat) {
    EXPECT_EQ(BodyText({kF, kF}, [&](Builder&, Args a) { c.op(a[0], a[1]); }),
              "%0 = \"" + std::string(c.text) +
                  "\"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n");
  }
  const Case kInteger[] = {
      {"stablehlo.shift_left", shift_left},
      {"stablehlo.shift_right_arithmetic", shift_right_arithmetic},
      {"stablehlo.shift_right_logical", shift_right_logical},
      {"stablehlo.and", and_},
      {"stablehlo.or", or_},
      {"stablehlo.xor", xor_},
  };
  for (const Case& c : kInteger) {
    EXPECT_EQ(BodyText({kI, kI}, [&](Builder&, Args a) { c.op(a[0], a[1]); }),
              "%0 = \"" + std::string(c.text) +
                  "\"(%arg0, %arg1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>\n");
  }
}

TEST(ElementwiseTest, ComplexCompareSelectClamp) {
  const TensorType part{DType::kF64, {2}}, scalar_pred{DType::kPred, {}};
  ExpectGolden(
      {part, part, kI, kP, kC},
      {{R"(%0 = "stablehlo.complex"(%arg0, %arg1) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xcomplex<f64>>)",
        [](Builder&, Args a) { complex(a[0], a[1]); }},
       {R"(%0 = "stablehlo.compare"(%arg0, %arg1) {comparison_direction = #stablehlo<comparison_direction LT>, )"
        R"(compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xi1>)",
        [](Builder&, Args a) { compare(a[0], a[1], Direction::kLt); }},
       {R"(%0 = "stablehlo.compare"(%arg0, %arg1) {comparison_direction = #stablehlo<comparison_direction GE>, )"
        R"(compare_type = #stablehlo<comparison_type TOTALORDER>} : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xi1>)",
        [](Builder&, Args a) { compare(a[0], a[1], Direction::kGe, true); }},
       {R"(%0 = "stablehlo.compare"(%arg2, %arg2) {comparison_direction = #stablehlo<comparison_direction EQ>, )"
        R"(compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>)",
        [](Builder&, Args a) { compare(a[2], a[2], Direction::kEq); }},
       {R"(%0 = "stablehlo.compare"(%arg3, %arg3) {comparison_direction = #stablehlo<comparison_direction NE>, )"
        R"(compare_type = #stablehlo<comparison_type UNSIGNED>} : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>)",
        [](Builder&, Args a) { compare(a[3], a[3], Direction::kNe); }},
       {R"(%0 = "stablehlo.select"(%arg3, %arg0, %arg1) : (tensor<2xi1>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>)",
        [](Builder&, Args a) { select(a[3], a[0], a[1]); }},
       {R"(%0 = "stablehlo.clamp"(%arg0, %arg0, %arg1) : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>)",
        [](Builder&, Args a) { clamp(a[0], a[0], a[1]); }}});
}

TEST(ElementwiseTest, Refusals) {
  const TensorType flipped{DType::kF32, {3, 2}};
  ExpectRefusal(
      {kF, flipped},
      "stablehlo.add: operands must have equal types, got tensor<2x3xf32> and tensor<3x2xf32>",
      [](Builder&, Args a) { add(a[0], a[1]); });
  ExpectRefusal({kF}, "stablehlo.and: operands must be bool or integer, got tensor<2x3xf32>",
                [](Builder&, Args a) { and_(a[0], a[0]); });
  ExpectRefusal({kI}, "stablehlo.exponential: operand must be float or complex, got tensor<2xi32>",
                [](Builder&, Args a) { exponential(a[0]); });
  ExpectRefusal(
      {kP}, "stablehlo.subtract: operands must be integer or float or complex, got tensor<2xi1>",
      [](Builder&, Args a) { subtract(a[0], a[0]); });
  ExpectRefusal(
      {{DType::kU8, {}}},
      "stablehlo.abs: operand must be signed integer or float or complex, got tensor<ui8>",
      [](Builder&, Args a) { abs(a[0]); });
  ExpectRefusal({kC},
                "stablehlo.compare: complex numbers have no order, got tensor<2xcomplex<f32>>",
                [](Builder&, Args a) { compare(a[0], a[0], Direction::kLt); });
  ExpectRefusal({kF, kI},
                "stablehlo.select: pred must be i1 of rank 0 or of dims [2, 3], got tensor<2xi32>",
                [](Builder&, Args a) { select(a[1], a[0], a[0]); });
  ExpectRefusal({kF, kI},
                "stablehlo.clamp: bounds of tensor<2x3xf32> must have its element type and rank 0 "
                "or its dims, got "
                "tensor<2xi32>",
                [](Builder&, Args a) { clamp(a[1], a[0], a[1]); });
  ExpectRefusal({{DType::kF16, {}}},
                "stablehlo.complex: operands must be f32 or f64, got tensor<f16>",
                [](Builder&, Args a) { complex(a[0], a[0]); });
  ExpectRefusal(
      {kF},
      "stablehlo.reduce_precision: needs at least 1 exponent bit and 0 mantissa bits, got 0 and 7",
      [](Builder&, Args a) { reduce_precision(a[0], 0, 7); });
}

}  // namespace
}  // namespace torch_tpu::shlo
