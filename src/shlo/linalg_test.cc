// Golden lines and refusals of the Fourier transform and the factorisations.
#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

const TensorType kMatrix{DType::kF32, {5, 3, 3}};

TEST(LinalgTest, Lines) {
  ExpectGolden(
      {{DType::kF32, {2, 4}}, {DType::kC64, {2, 3}}, kMatrix, {DType::kF32, {5, 3, 2}}},
      {{R"(%0 = "stablehlo.fft"(%arg0) {fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>} : )"
        R"((tensor<2x4xf32>) -> tensor<2x3xcomplex<f32>>)",
        [](Builder&, Args a) { fft(a[0], FftKind::kRfft, {4}); }},
       {R"(%0 = "stablehlo.fft"(%arg1) {fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 2, 5>} : )"
        R"((tensor<2x3xcomplex<f32>>) -> tensor<2x5xf32>)",
        [](Builder&, Args a) { fft(a[1], FftKind::kIrfft, {2, 5}); }},
       {R"(%0 = "stablehlo.fft"(%arg1) {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 3>} : )"
        R"((tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>)",
        [](Builder&, Args a) { fft(a[1], FftKind::kFft, {3}); }},
       {R"(%0 = "stablehlo.fft"(%arg1) {fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64: 3>} : )"
        R"((tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>)",
        [](Builder&, Args a) { fft(a[1], FftKind::kIfft, {3}); }},
       {R"(%0 = "stablehlo.cholesky"(%arg2) {lower = true} : (tensor<5x3x3xf32>) -> tensor<5x3x3xf32>)",
        [](Builder&, Args a) { cholesky(a[2], true); }},
       {R"(%0 = "stablehlo.triangular_solve"(%arg2, %arg3) {left_side = true, lower = false, unit_diagonal = true, )"
        R"(transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<5x3x3xf32>, tensor<5x3x2xf32>) -> tensor<5x3x2xf32>)",
        [](Builder&, Args a) { triangular_solve(a[2], a[3], true, false, true, false); }},
       {R"(%0 = "stablehlo.triangular_solve"(%arg2, %arg2) {left_side = false, lower = true, unit_diagonal = false, )"
        R"(transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<5x3x3xf32>, tensor<5x3x3xf32>) -> tensor<5x3x3xf32>)",
        [](Builder&, Args a) { triangular_solve(a[2], a[2], false, true, false, true, true); }}});
}

TEST(LinalgTest, Refusals) {
  ExpectRefusal({{DType::kF16, {4}}},
                "stablehlo.fft: RFFT needs f32 or f64, got tensor<4xf16> and lengths [4]",
                [](Builder&, Args a) { fft(a[0], FftKind::kRfft, {4}); });
  ExpectRefusal({{DType::kC64, {4}}},
                "stablehlo.fft: lengths do not fit the last dimensions, got tensor<4xcomplex<f32>> "
                "and lengths [4]",
                [](Builder&, Args a) { fft(a[0], FftKind::kIrfft, {4}); });
  ExpectRefusal({{DType::kC64, {4}}},
                "stablehlo.fft: transforms the last 1 to 3 dimensions, got tensor<4xcomplex<f32>> "
                "and lengths [2, 2]",
                [](Builder&, Args a) { fft(a[0], FftKind::kFft, {2, 2}); });
  ExpectRefusal(
      {{DType::kF32, {2, 3}}},
      "stablehlo.cholesky: operand must be a batch of square matrices, got tensor<2x3xf32>",
      [](Builder&, Args a) { cholesky(a[0], true); });
  ExpectRefusal({kMatrix, {DType::kF32, {5, 2, 3}}},
                "stablehlo.triangular_solve: tensor<5x3x3xf32> does not fit the right-hand side "
                "tensor<5x2x3xf32>",
                [](Builder&, Args a) { triangular_solve(a[0], a[1], true, true, false, false); });
}

}  // namespace
}  // namespace torch_tpu::shlo
