// The three Fourier transforms that torch.fft bottoms out in.
#include <cmath>

#include "ops/call.h"

namespace torch_tpu::ops {
namespace {

using shlo::FftKind;

// One transform along `dim`, which StableHLO does along the last one only.
Value Transform(Value x, int64_t dim, FftKind kind, int64_t length) {
  return swap_dims(fft(swap_dims(x, dim, x.rank() - 1), kind, {length}), dim, x.rank() - 1);
}

// What PyTorch's normalization code asks for: 0 none, 1 by the root of the signal size, 2 by the
// signal size.
double Factor(int64_t normalization, double signal_size) {
  if (normalization == 1) return 1 / std::sqrt(signal_size);
  return normalization == 2 ? 1 / signal_size : 1;
}

Value Scaled(Value x, double factor) { return factor == 1 ? x : x * factor; }

Dims WrappedDims(const Call& c, const Value& x) {
  Dims dims = c.ints(1);
  for (int64_t& d : dims) d = shlo::wrap_dim(d, x.rank());
  return dims;
}

// The product of the sizes of `dims`.
double SignalSize(const Value& x, const Dims& dims) {
  double n = 1;
  for (int64_t d : dims) n *= static_cast<double>(x.dim(d));
  return n;
}

Value ComplexTransform(Value x, const Dims& dims, bool forward) {
  for (int64_t d : dims) x = Transform(x, d, forward ? FftKind::kFft : FftKind::kIfft, x.dim(d));
  return x;
}

// _fft_c2c(self, dim, normalization, forward)
Value FftC2C(Call& c) {
  Value x = c.tensor(0);
  const Dims dims = WrappedDims(c, x);
  const double n = SignalSize(x, dims);
  const bool forward = c.boolean(3);
  // StableHLO's inverse divides by the signal size, PyTorch's only where asked.
  return Scaled(ComplexTransform(x, dims, forward), Factor(c.integer(2), n) * (forward ? 1 : n));
}

// _fft_r2c(self, dim, normalization, onesided)
Value FftR2C(Call& c) {
  Value x = c.tensor(0);
  Dims dims = WrappedDims(c, x);
  const double factor = Factor(c.integer(2), SignalSize(x, dims));
  if (!c.boolean(3)) {
    return Scaled(ComplexTransform(convert(x, ComplexType(x.dtype())), dims, true), factor);
  }
  const int64_t last = dims.back();
  dims.pop_back();
  x = Transform(x, last, FftKind::kRfft, x.dim(last));
  return Scaled(ComplexTransform(x, dims, true), factor);
}

// _fft_c2r(self, dim, normalization, last_dim_size): the inverse transform of a half spectrum.
Value FftC2R(Call& c) {
  Value x = c.tensor(0);
  Dims dims = WrappedDims(c, x);
  const int64_t last = dims.back(), length = c.integer(3);
  dims.pop_back();
  const double n = SignalSize(x, dims) * static_cast<double>(length);
  const int64_t half = length / 2 + 1;
  if (x.dim(last) > half) x = slice_dim(x, last, 0, half);
  x = Transform(ComplexTransform(x, dims, false), last, FftKind::kIrfft, length);
  return Scaled(x, Factor(c.integer(2), n) * n);
}

LOWER("aten::_fft_c2c", FftC2C);
LOWER("aten::_fft_r2c", FftR2C);
LOWER("aten::_fft_c2r", FftC2R);

}  // namespace
}  // namespace torch_tpu::ops
