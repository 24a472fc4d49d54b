// Lowerings of the orthogonal polynomials.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(PolynomialTest, DegreesAreWalkedInOneLoop) {
  TestCall c("aten::special_legendre_polynomial_p");
  c.Tensor(DType::kF32, {2, 3}).Tensor(DType::kF32, {3}).Out(DType::kF32, {2, 3});
  const std::string ops = c.Ops();
  EXPECT_TRUE(Contains(ops, "while")) << ops;
  EXPECT_FALSE(Contains(ops, "cosine")) << ops;
}

TEST(PolynomialTest, ChebyshevHasAClosedFormInTheAngle) {
  TestCall c("aten::special_chebyshev_polynomial_t");
  c.Tensor(DType::kF32, {3}).Tensor(DType::kF32, {3}).Out(DType::kF32, {3});
  const std::string ops = c.Ops();
  EXPECT_TRUE(Contains(ops, "while")) << ops;
  EXPECT_TRUE(Contains(ops, "cosine")) << ops;
}

}  // namespace
}  // namespace torch_tpu::ops
