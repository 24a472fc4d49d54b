// How constants of every element type are written.
#include <cmath>
#include <limits>

#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// What stands between "dense<" and ">" of a rank-0 constant.
template <typename T>
std::string Element(T value, DType dtype) {
  const std::string text =
      BodyText({}, [&](Builder& b, Args) { constant(b, value, TensorType{dtype, {}}); });
  const size_t begin = text.find("dense<") + 6;
  return text.substr(begin, text.find("> : tensor<", begin) - begin);
}

TEST(ConstantTest, Lines) {
  const int64_t integers[] = {3, -1};
  const double floats[] = {0.5, -0.0};
  ExpectGolden(
      {},
      {{R"(%0 = "stablehlo.constant"() {value = dense<1.5> : tensor<2x3xf32>} : () -> tensor<2x3xf32>)",
        [](Builder& b, Args) { constant(b, 1.5, TensorType{DType::kF32, {2, 3}}); }},
       {R"(%0 = "stablehlo.constant"() {value = dense<> : tensor<0xf32>} : () -> tensor<0xf32>)",
        [](Builder& b, Args) { constant(b, 1.5, TensorType{DType::kF32, {0}}); }},
       {R"(%0 = "stablehlo.constant"() {value = dense<[3, -1]> : tensor<2xi64>} : () -> tensor<2xi64>)",
        [&](Builder& b, Args) { constant(b, integers, DType::kS64); }},
       {R"(%0 = "stablehlo.constant"() {value = dense<[0.5, -0.0]> : tensor<2xf64>} : () -> tensor<2xf64>)",
        [&](Builder& b, Args) { constant(b, floats, DType::kF64); }},
       {R"(%0 = "stablehlo.constant"() {value = dense<(1.0, -2.5)> : tensor<complex<f32>>} : () -> tensor<complex<f32>>)",
        [](Builder& b, Args) {
          constant(b, std::complex<double>(1, -2.5), TensorType{DType::kC64, {}});
        }},
       {R"(%0 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3xi32>)",
        [](Builder& b, Args) { iota(b, 1, {DType::kS32, {2, 3}}); }}});
}

TEST(ConstantTest, Floats) {
  EXPECT_EQ(Element(1.0, DType::kF32), "1.0");
  EXPECT_EQ(Element(0.1, DType::kF32), "0.1");
  EXPECT_EQ(Element(0.1, DType::kF64), "0.1");
  EXPECT_EQ(Element(1.0 / 3, DType::kF32), "0.33333334");
  EXPECT_EQ(Element(1.0 / 3, DType::kF64), "0.3333333333333333");
  EXPECT_EQ(Element(1e10, DType::kF32), "1.0e+10");
  EXPECT_EQ(Element(1.5e300, DType::kF64), "1.5e+300");
  EXPECT_EQ(Element(-0.0, DType::kF32), "-0.0");
  EXPECT_EQ(Element(int64_t{3}, DType::kBF16), "3.0");
  EXPECT_EQ(Element(2.0, DType::kC128), "(2.0, 0.0)");
}

TEST(ConstantTest, NanAndInfinitiesAreBits) {
  EXPECT_EQ(Element(kNan, DType::kF32), "0x7FC00000");
  EXPECT_EQ(Element(kInf, DType::kF32), "0x7F800000");
  EXPECT_EQ(Element(-kInf, DType::kF32), "0xFF800000");
  EXPECT_EQ(Element(kNan, DType::kF64), "0x7FF8000000000000");
  EXPECT_EQ(Element(-kInf, DType::kF64), "0xFFF0000000000000");
  EXPECT_EQ(Element(kNan, DType::kF16), "0x7E00");
  EXPECT_EQ(Element(kInf, DType::kF16), "0x7C00");
  EXPECT_EQ(Element(kNan, DType::kBF16), "0x7FC0");
  EXPECT_EQ(Element(-kInf, DType::kBF16), "0xFF80");
  EXPECT_EQ(Element(kNan, DType::kF8E4M3FN), "0x7F");
  EXPECT_EQ(Element(kInf, DType::kF8E5M2), "0x7C");
  EXPECT_EQ(Element(kNan, DType::kF8E4M3FNUZ), "0x80");
  EXPECT_EQ(Element(std::complex<double>(kNan, kInf), DType::kC64), "(0x7FC00000, 0x7F800000)");
}

TEST(ConstantTest, OverflowBecomesInfinity) {
  EXPECT_EQ(Element(1e300, DType::kF32), "0x7F800000");
  EXPECT_EQ(Element(-65520.0, DType::kF16), "0xFC00");
  EXPECT_EQ(Element(65519.0, DType::kF16), "65519.0");
}

TEST(ConstantTest, Integers) {
  EXPECT_EQ(Element(int64_t{1}, DType::kPred), "true");
  EXPECT_EQ(Element(0.0, DType::kPred), "false");
  EXPECT_EQ(Element(0.5, DType::kPred), "true");
  EXPECT_EQ(Element(int64_t{-1}, DType::kU8), "255");
  EXPECT_EQ(Element(int64_t{300}, DType::kS8), "44");
  EXPECT_EQ(Element(int64_t{-1}, DType::kU64), "18446744073709551615");
  EXPECT_EQ(Element(std::numeric_limits<int64_t>::min(), DType::kS64), "-9223372036854775808");
  EXPECT_EQ(Element((int64_t{1} << 53) + 1, DType::kS64), "9007199254740993");
  EXPECT_EQ(Element(0x1p63, DType::kU64), "9223372036854775808");
  EXPECT_EQ(Element(-4.0, DType::kS32), "-4");
}

TEST(ConstantTest, Refusals) {
  ExpectRefusal({}, "stablehlo.constant: 0.500000 is no i32",
                [](Builder& b, Args) { scalar(b, 0.5, DType::kS32); });
  ExpectRefusal({}, "stablehlo.constant: nan is no ui8",
                [](Builder& b, Args) { scalar(b, kNan, DType::kU8); });
  ExpectRefusal({}, "stablehlo.constant: a complex number is no f32", [](Builder& b, Args) {
    constant(b, std::complex<double>(1, 1), TensorType{DType::kF32, {}});
  });
  ExpectRefusal({}, "an element type is invalid",
                [](Builder& b, Args) { constant(b, 1, TensorType{}); });
  ExpectRefusal({}, "stablehlo.iota: cannot count along dimension 1 of tensor<2xi32>",
                [](Builder& b, Args) { iota(b, 1, {DType::kS32, {2}}); });
}

}  // namespace
}  // namespace torch_tpu::shlo
