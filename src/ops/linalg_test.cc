// Programs of linear algebra.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(LinalgTest, CholeskyLooksForTheMinorOnlyOnFailure) {
  TestCall c("aten::linalg_cholesky_ex");
  c.Tensor(DType::kF32, {2, 4, 4}).Bool(false).Bool(false);
  const std::string text = c.Out(DType::kF32, {2, 4, 4}).Out(DType::kS32, {2}).Text();
  EXPECT_TRUE(Contains(text, "stablehlo.cholesky")) << text;
  EXPECT_LT(text.find("stablehlo.if"), text.size()) << text;
}

TEST(LinalgTest, TriangularSolveBroadcastsTheBatch) {
  TestCall c("aten::linalg_solve_triangular");
  c.Tensor(DType::kF32, {3, 3}).Tensor(DType::kF32, {5, 3, 2}).Bool(true).Bool(true).Bool(false);
  const std::string text = c.Out(DType::kF32, {5, 3, 2}).Text();
  EXPECT_TRUE(Contains(text, "(tensor<5x3x3xf32>, tensor<5x3x2xf32>)")) << text;
  EXPECT_TRUE(Contains(text, "lower = false")) << text;
}

TEST(LinalgTest, EliminationIsOneLoopWhateverTheSize) {
  std::string ops[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t n = i == 0 ? 3 : 300;
    TestCall c("aten::linalg_lu_factor_ex");
    c.Tensor(DType::kF32, {n, n}).Bool(true).Bool(false);
    ops[i] = c.Out(DType::kF32, {n, n}).Out(DType::kS32, {n}).Out(DType::kS32, {}).Ops();
  }
  EXPECT_TRUE(Contains(ops[0], "while")) << ops[0];
  EXPECT_EQ(ops[0], ops[1]);
}

TEST(LinalgTest, QrIsOneLoopForTheFactorsAndOneForQ) {
  std::string ops[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t n = i == 0 ? 3 : 300;
    TestCall c("aten::linalg_qr");
    c.Tensor(DType::kF32, {n + 1, n}).String("reduced");
    ops[i] = c.Out(DType::kF32, {n + 1, n}).Out(DType::kF32, {n, n}).Ops();
  }
  EXPECT_EQ(ops[0], ops[1]);
  const size_t first = ops[0].find("while");
  ASSERT_NE(first, std::string::npos) << ops[0];
  EXPECT_NE(ops[0].find("while", first + 1), std::string::npos) << ops[0];
}

TEST(LinalgTest, ProductsOfFactorsAreNotRounded) {
  TestCall c("aten::linalg_matrix_exp");
  c.Tensor(DType::kF32, {3, 3});
  const std::string text = c.Out(DType::kF32, {3, 3}).Text();
  EXPECT_TRUE(Contains(text, "HIGHEST")) << text;
  EXPECT_FALSE(Contains(text, "DEFAULT")) << text;
}

TEST(LinalgTest, JacobiPadsAnOddNumberOfRows) {
  for (const int64_t n : {4, 5}) {
    TestCall c("aten::_linalg_eigh");
    c.Tensor(DType::kF64, {n, n}).String("L").Bool(false);
    const std::string text = c.Out(DType::kF64, {n}).Out(DType::kF64, {0}).Text();
    EXPECT_EQ(Contains(text, "stablehlo.pad"), n == 5) << text;
    EXPECT_TRUE(Contains(text, n == 4 ? "tensor<1x2x4xf64>" : "tensor<1x3x5xf64>")) << text;
  }
}

}  // namespace
}  // namespace torch_tpu::ops
