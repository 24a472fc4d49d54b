// Programs of special functions.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

std::string Text(const char* name, DType dtype) {
  TestCall c(name);
  return c.Tensor(dtype, {4}).Out(dtype, {4}).Text();
}

TEST(SpecialTest, Float32UsesFewerTerms) {
  const size_t narrow = Count(Text("aten::special_i0e", DType::kF32), "stablehlo.multiply");
  const size_t wide = Count(Text("aten::special_i0e", DType::kF64), "stablehlo.multiply");
  EXPECT_GT(narrow, 20u);
  EXPECT_LT(narrow, wide);
}

TEST(SpecialTest, BesselOfOrderOneIsThePlugins) {
  EXPECT_TRUE(Contains(Text("aten::special_i1e", DType::kF32), "chlo.bessel_i1e"));
}

TEST(SpecialTest, HigherPolygammaIsASumOfAsManyTermsAsItsArgumentNeeds) {
  const auto text = [](int64_t order) {
    TestCall c("aten::polygamma");
    return c.Int(order).Tensor(DType::kF32, {4}).Out(DType::kF32, {4}).Text();
  };
  EXPECT_TRUE(Contains(text(0), "chlo.digamma"));
  EXPECT_TRUE(Contains(text(1), "stablehlo.sine"));
  EXPECT_FALSE(Contains(text(1), "stablehlo.while"));
  EXPECT_TRUE(Contains(text(2), "stablehlo.while"));
  EXPECT_TRUE(Contains(text(2), "dense<-2.0>"));  // -2! zeta(3, x)
}

}  // namespace
}  // namespace torch_tpu::ops
