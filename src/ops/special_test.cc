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

TEST(SpecialTest, PolygammaTakesItsOrderFirst) {
  TestCall c("aten::polygamma");
  c.Int(2).Tensor(DType::kF32, {4}).Out(DType::kF32, {4});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "dense<2.0>")) << text;
  EXPECT_TRUE(Contains(text, "chlo.polygamma")) << text;
}

}  // namespace
}  // namespace torch_tpu::ops
