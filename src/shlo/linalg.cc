// Fourier transforms and factorisations.
#include "shlo/attributes.h"
#include "shlo/check.h"
#include "shlo/ops.h"

namespace torch_tpu::shlo {
namespace {

void CheckSquare(std::string_view op, Value v) {
  CheckKind(op, "operand", v, kFloatKind | kComplexKind);
  if (v.rank() < 2 || v.dim(-1) != v.dim(-2)) {
    Fail(op, "operand must be a batch of square matrices, got " + v.type().ToString());
  }
}

}  // namespace

Value fft(Value operand, FftKind kind, const Dims& lengths) {
  constexpr std::string_view kOp = "stablehlo.fft";
  constexpr std::string_view kNames[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  std::string got = ", got " + operand.type().ToString() + " and lengths " + DimsToString(lengths);
  int64_t n = static_cast<int64_t>(lengths.size());
  if (n < 1 || n > 3 || operand.rank() < n)
    Fail(kOp, "transforms the last 1 to 3 dimensions" + got);
  TensorType result = operand.type();
  bool from_real = kind == FftKind::kRfft;
  if (from_real) {
    result.dtype = ComplexType(operand.dtype());
    if (result.dtype == DType::kInvalid) Fail(kOp, "RFFT needs f32 or f64" + got);
  } else {
    CheckKind(kOp, "operand", operand, kComplexKind);
    if (kind == FftKind::kIrfft) result.dtype = RealType(operand.dtype());
  }
  int64_t first = operand.rank() - n;
  for (int64_t i = 0; i < n; ++i) {
    bool halved = kind == FftKind::kIrfft && i == n - 1;
    int64_t expected = halved ? lengths[i] / 2 + 1 : lengths[i];
    // A length of zero halves to one, which is no transform; XLA wants zero there.
    if (lengths[i] == 0) expected = 0;
    if (operand.dims()[first + i] != expected)
      Fail(kOp, "lengths do not fit the last dimensions" + got);
    if (halved) result.dims.back() = lengths[i];
    if (from_real && i == n - 1) result.dims.back() = lengths[i] == 0 ? 0 : lengths[i] / 2 + 1;
  }
  return operand.builder().Emit1(
      kOp, {operand},
      {{"fft_type", EnumText("fft_type", kNames[static_cast<int>(kind)])},
       {"fft_length", I64ArrayText(lengths)}},
      std::move(result));
}

Value cholesky(Value operand, bool lower) {
  constexpr std::string_view kOp = "stablehlo.cholesky";
  CheckSquare(kOp, operand);
  return operand.builder().Emit1(kOp, {operand}, {{"lower", BoolText(lower)}}, operand.type());
}

Value triangular_solve(Value a, Value b, bool left_side, bool lower, bool unit_diagonal,
                       bool transpose_a, bool adjoint_a) {
  constexpr std::string_view kOp = "stablehlo.triangular_solve";
  CheckSameDType(kOp, a, b);
  CheckSquare(kOp, a);
  bool fits = a.rank() == b.rank() && b.dim(left_side ? -2 : -1) == a.dim(-1);
  for (int64_t i = 0; fits && i + 2 < a.rank(); ++i) fits = a.dims()[i] == b.dims()[i];
  if (!fits)
    Fail(kOp, a.type().ToString() + " does not fit the right-hand side " + b.type().ToString());
  std::string_view transpose = adjoint_a ? "ADJOINT" : transpose_a ? "TRANSPOSE" : "NO_TRANSPOSE";
  return a.builder().Emit1(kOp, {a, b},
                           {{"left_side", BoolText(left_side)},
                            {"lower", BoolText(lower)},
                            {"unit_diagonal", BoolText(unit_diagonal)},
                            {"transpose_a", EnumText("transpose", transpose)}},
                           b.type());
}

}  // namespace torch_tpu::shlo
