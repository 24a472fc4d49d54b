// Programs of the Fourier transforms.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(FftTest, InverseByTheSizeIsWhatStableHloDoes) {
  TestCall c("aten::_fft_c2c");
  c.Tensor(DType::kC64, {2, 8}).Ints({1}).Int(2).Bool(false).Out(DType::kC64, {2, 8});
  EXPECT_EQ(c.Ops(), "fft") << "no scaling";
}

TEST(FftTest, UnscaledInverseMultipliesByTheSize) {
  TestCall c("aten::_fft_c2c");
  c.Tensor(DType::kC64, {2, 8}).Ints({1}).Int(0).Bool(false).Out(DType::kC64, {2, 8});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "8.0")) << text;
  EXPECT_TRUE(Contains(text, "IFFT")) << text;
}

TEST(FftTest, RealTransformHalvesTheLastDimOfTheList) {
  TestCall c("aten::_fft_r2c");
  c.Tensor(DType::kF32, {4, 6}).Ints({1, 0}).Int(0).Bool(true).Out(DType::kC64, {3, 6});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "RFFT")) << text;
  EXPECT_TRUE(Contains(text, "(tensor<6x4xf32>) -> tensor<6x3xcomplex<f32>>")) << text;
}

}  // namespace
}  // namespace torch_tpu::ops
