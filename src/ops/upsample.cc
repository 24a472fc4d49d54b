// Resizing: nearest, linear, cubic and antialiased interpolation in one to three dims, and the
// gradients.
//
// All but nearest are separable linear maps: a matrix a dim, made from iotas, applied forward as it
// is and backward transposed. Nearest picks elements, so that infinities do not spread; its
// gradient is a map again.
#include <array>
#include <cmath>
#include <numbers>

#include "ops/linear_map.h"

namespace torch_tpu::ops {
namespace {

enum class Filter { kLinear, kCubic, kLanczos };

// One spatial dim of a resize.
struct Axis {
  int64_t in, out;
  double scale;  // input elements per output element
  bool align_corners;
};

// How output positions are told: sizes, then the optional scale factors (output per input) from
// argument `scales`.
std::vector<Axis> ReadAxes(const Call& c, const Dims& in, const Dims& out, bool align_corners,
                           int scales) {
  std::vector<Axis> axes;
  for (size_t i = 2; i < in.size(); ++i) {
    const int factor = scales + static_cast<int>(i) - 2;
    Axis a{in[i], out[i], 0, align_corners};
    if (align_corners) {
      a.scale = a.out > 1 ? static_cast<double>(a.in - 1) / static_cast<double>(a.out - 1) : 0;
    } else if (c.has(factor) && c.static_number(factor) > 0) {
      a.scale = 1 / c.static_number(factor);
    } else {
      a.scale = static_cast<double>(a.in) / static_cast<double>(a.out);
    }
    axes.push_back(a);
  }
  return axes;
}

// Nearest in two dims takes equal and doubled sizes as they are, whatever scale is given: PyTorch's
// CPU rule.
std::vector<Axis> NearestAxes(const Call& c, const Dims& in, const Dims& out, bool exact,
                              int scales) {
  std::vector<Axis> axes = ReadAxes(c, in, out, false, scales);
  if (exact || axes.size() != 2) return axes;
  for (Axis& a : axes) {
    if (a.out == a.in || a.out == 2 * a.in) {
      a.scale = static_cast<double>(a.in) / static_cast<double>(a.out);
    }
  }
  return axes;
}

// Rounded as PyTorch rounds it: the positions of float32 tensors are computed in float32.
double RoundTo(double value, DType dtype) {
  return dtype == DType::kF64 ? value : static_cast<double>(static_cast<float>(value));
}

DType MapType(DType dtype) { return dtype == DType::kF64 ? dtype : DType::kF32; }

// Where output positions `rows` lie between the input elements.
Value SourcePosition(Value rows, const Axis& a) {
  const double scale = RoundTo(a.scale, rows.dtype());
  return a.align_corners ? rows * scale : (rows + 0.5) * scale - 0.5;
}

Value LinearMap(Builder& b, const Axis& a, DType dtype) {
  Value zero = shlo::scalar(b, 0.0, dtype),
        last = shlo::scalar(b, static_cast<double>(a.in - 1), dtype);
  Value source = shlo::clamp(zero, SourcePosition(MapRows(b, a.out, a.in, dtype), a), last);
  Value distance = shlo::abs(source - MapColumns(b, a.out, a.in, dtype));
  return shlo::max(1.0 - distance, shlo::full_like(distance, 0));
}

// The cubic convolution kernel at distances d >= 0; `a` is its free parameter.
Value CubicKernel(Value d, double a) {
  Value inner = ((a + 2) * d - (a + 3)) * d * d + 1.0;
  Value outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return shlo::where(d <= 1.0, inner, shlo::where(d < 2.0, outer, 0.0));
}

// Four taps around the source; those outside of the input read its border.
Value CubicMap(Builder& b, const Axis& a, DType dtype) {
  Value source = SourcePosition(MapRows(b, a.out, a.in, dtype), a);
  Value columns = MapColumns(b, a.out, a.in, dtype);
  Value zero = shlo::scalar(b, 0.0, dtype),
        last = shlo::scalar(b, static_cast<double>(a.in - 1), dtype);
  Value base = shlo::floor(source), map;
  for (int tap = -1; tap <= 2; ++tap) {
    Value at = base + static_cast<double>(tap);
    Value weight = CubicKernel(shlo::abs(source - at), -0.75);
    Value part = shlo::where(shlo::clamp(zero, at, last) == columns, weight, 0.0);
    map = map ? map + part : part;
  }
  return map;
}

// sin(pi d) / (pi d) times its own stretched self, of three lobes, at distances d >= 0.
Value LanczosKernel(Value d) {
  const auto sinc = [](Value x) {
    Value angle = x * std::numbers::pi;
    return shlo::where(x == 0.0, 1.0, shlo::sine(angle) / angle);
  };
  return shlo::where(d < 3.0, sinc(d) * sinc(d / 3.0), 0.0);
}

Value FilterKernel(Value d, Filter filter) {
  if (filter == Filter::kLinear) return shlo::max(1.0 - d, shlo::full_like(d, 0));
  return filter == Filter::kCubic ? CubicKernel(d, -0.5) : LanczosKernel(d);
}

// Antialiased: the filter is widened by the scale when shrinking, and rows are normalised to 1.
Value AntialiasedMap(Builder& b, const Axis& a, DType dtype, Filter filter) {
  const double half = filter == Filter::kLinear ? 1 : filter == Filter::kCubic ? 2 : 3;
  const double scale = RoundTo(a.scale, dtype), widening = std::max(1.0, scale);
  const double support = half * widening;
  Value rows = MapRows(b, a.out, a.in, dtype), columns = MapColumns(b, a.out, a.in, dtype);
  Value center = (rows + 0.5) * scale;
  Value zero = shlo::full_like(rows, 0);
  // PyTorch truncates to integers; negative ones are cut to 0 anyway.
  Value first = shlo::floor(shlo::max(center - support + 0.5, zero));
  Value end = shlo::floor(center + support + 0.5);
  Value distance = shlo::abs((columns - center + 0.5) * RoundTo(1 / widening, dtype));
  Value weight = FilterKernel(distance, filter);
  weight = shlo::where((columns >= first) & (columns < end), weight, 0.0);
  return weight / shlo::broadcast_to(shlo::reduce_sum(weight, {1}, true), weight.dims());
}

// Input positions that nearest interpolation reads at output positions `o` (floats).
Value NearestSource(Value o, const Axis& a, bool exact) {
  const double scale = RoundTo(a.scale, o.dtype());
  Value source = exact ? (o + 0.5) * scale - 0.5 + 0.5 : o * scale;
  Value last = shlo::scalar(o.builder(), static_cast<double>(a.in - 1), o.dtype());
  return shlo::clamp(shlo::full_like(last, 0), shlo::floor(source), last);
}

// Each input element stands for in a row `out / in` output elements.
bool Repeats(const Axis& a) {
  return a.out % a.in == 0 && a.scale * static_cast<double>(a.out) == static_cast<double>(a.in);
}

Value Take(Value x, Value positions, int64_t dim) {
  shlo::GatherDims gather;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i != dim) gather.offset_dims.push_back(i);
  }
  gather.collapsed_slice_dims = {dim};
  gather.start_index_map = {dim};
  gather.index_vector_dim = 1;
  Dims slice = x.dims();
  slice[static_cast<size_t>(dim)] = 1;
  return shlo::gather(x, positions, gather, slice, true);
}

Value RepeatEach(Value x, int64_t dim, int64_t times) {
  Dims split = x.dims(), merged = x.dims(), kept;
  split.insert(split.begin() + dim + 1, times);
  merged[static_cast<size_t>(dim)] *= times;
  for (int64_t i = 0; i < x.rank(); ++i) kept.push_back(i <= dim ? i : i + 1);
  return shlo::reshape(shlo::broadcast_in_dim(x, split, kept), merged);
}

// self, output_size, scales...
template <bool kExact>
Value Nearest(Call& c) {
  Value x = c.tensor(0);
  if (NumElements(x.dims()) == 0) return shlo::constant(c.builder(), 0, c.out());
  const DType dtype = MapType(x.dtype());
  int64_t dim = 2;
  for (const Axis& a : NearestAxes(c, x.dims(), c.out().dims, kExact, 2)) {
    if (Repeats(a)) {
      x = RepeatEach(x, dim, a.out / a.in);
    } else {
      Value o = shlo::iota(c.builder(), 0, {dtype, {a.out}});
      Value source = shlo::convert(NearestSource(o, a, kExact), DType::kS32);
      x = Take(x, shlo::reshape(source, {a.out, 1}), dim);
    }
    ++dim;
  }
  return x;
}

Value NearestMap(Builder& b, const Axis& a, DType dtype, bool exact) {
  Value hit =
      NearestSource(MapRows(b, a.out, a.in, dtype), a, exact) == MapColumns(b, a.out, a.in, dtype);
  return shlo::convert(hit, dtype);
}

// grad_output, output_size, input_size, scales...
template <bool kExact>
Value NearestBackward(Call& c) {
  Value dy = shlo::opmath(c.tensor(0));
  if (NumElements(dy.dims()) == 0) return shlo::constant(c.builder(), 0, c.out());
  std::vector<Value> maps;
  for (const Axis& a : NearestAxes(c, c.ints(2), dy.dims(), kExact, 3)) {
    maps.push_back(NearestMap(c.builder(), a, dy.dtype(), kExact));
  }
  return ApplyMaps(dy, maps, true);
}

using MapFn = Value (*)(Builder&, const Axis&, DType);

Value AntialiasedLinearMap(Builder& b, const Axis& a, DType dtype) {
  return AntialiasedMap(b, a, dtype, Filter::kLinear);
}
Value AntialiasedCubicMap(Builder& b, const Axis& a, DType dtype) {
  return AntialiasedMap(b, a, dtype, Filter::kCubic);
}
Value AntialiasedLanczosMap(Builder& b, const Axis& a, DType dtype) {
  return AntialiasedMap(b, a, dtype, Filter::kLanczos);
}

Value Resample(const Call& c, Value x, const std::vector<Axis>& axes, MapFn map, bool adjoint) {
  if (NumElements(x.dims()) == 0) return shlo::constant(c.builder(), 0, c.out());
  const DType dtype = MapType(x.dtype());
  std::vector<Value> maps;
  for (const Axis& a : axes) maps.push_back(map(c.builder(), a, dtype));
  return ApplyMaps(shlo::convert(x, dtype), maps, adjoint);
}

// The last dim of x[.., in], bytes as s32, by map[out, in] as PyTorch's CPU does it: the weights in
// 16 bits, with as many of them after the point as the largest allows, and sums rounded to bytes.
Value ResampleBytes(Value x, Value map) {
  std::array<double, 22> ones;  // 2 to the number of bits after the point
  for (size_t i = 0; i < ones.size(); ++i) ones[i] = std::ldexp(2.0, static_cast<int>(i));
  Value powers = shlo::constant(x.builder(), std::span<const double>(ones), map.dtype());
  Value fits = shlo::floor(shlo::reduce_max(map, {0, 1}) * powers + 0.5) < 32768.0;
  Value one = shlo::reduce_max(shlo::where(fits, powers, 1.0), {0});  // a weight of 1
  Value bits = shlo::reduce_sum(shlo::convert(fits, DType::kS32), {0});
  // Two products of small integers, each exact in float32.
  Value weights = shlo::round_nearest_afz(map * one);
  Value high = shlo::floor(weights / 256.0), low = weights - high * 256.0;
  const auto product = [&](Value part) {
    const Value maps[] = {shlo::convert(part, DType::kF32)};
    return shlo::convert(ApplyMaps(shlo::convert(x, DType::kF32), maps, false), DType::kS32);
  };
  Value half = shlo::shift_left(shlo::full_like(bits, 1), bits - 1.0);
  Value sum = product(high) * 256.0 + product(low) + half;
  sum = shlo::shift_right_arithmetic(sum, shlo::broadcast_to(bits, sum.dims()));
  return shlo::clamp(shlo::full_like(bits, 0), sum, shlo::full_like(bits, 255));
}

// Images of bytes: dim by dim from the last.
Value InterpolateBytes(const Call& c, Value x, const std::vector<Axis>& axes, MapFn map) {
  if (NumElements(x.dims()) == 0) return shlo::constant(c.builder(), 0, c.out());
  x = shlo::convert(x, DType::kS32);
  const int64_t last = x.rank() - 1;
  for (int64_t i = static_cast<int64_t>(axes.size()) - 1; i >= 0; --i) {
    const Axis& a = axes[static_cast<size_t>(i)];
    if (a.in == a.out) continue;
    const int64_t dim = i + 2;
    const auto swap = [&](Value v) { return dim == last ? v : shlo::swap_dims(v, dim, last); };
    x = swap(ResampleBytes(swap(x), map(c.builder(), a, DType::kF64)));
  }
  return x;
}

// self, output_size, align_corners, scales...
template <MapFn kMap>
Value Interpolate(Call& c) {
  Value x = c.tensor(0);
  const auto axes = ReadAxes(c, x.dims(), c.out().dims, c.boolean(2), 3);
  if (x.dtype() == DType::kU8 && axes.size() == 2) return InterpolateBytes(c, x, axes, kMap);
  Value y = Resample(c, x, axes, kMap, false);
  if (c.out().dtype != DType::kU8) return y;
  // Rounded and held in range, where a conversion would truncate and wrap.
  Value low = shlo::scalar(c.builder(), 0.0, y.dtype()),
        high = shlo::scalar(c.builder(), 255.0, y.dtype());
  return shlo::clamp(low, shlo::round_nearest_even(y), high);
}

// grad_output, output_size, input_size, align_corners, scales...
template <MapFn kMap>
Value InterpolateBackward(Call& c) {
  Value dy = c.tensor(0);
  return Resample(c, dy, ReadAxes(c, c.ints(2), dy.dims(), c.boolean(3), 4), kMap, true);
}

#define RESIZE(name, forward, backward, first)                                      \
  LOWER("aten::" name, forward, {.static_numbers = {first, first + 1, first + 2}}); \
  LOWER("aten::" name "_backward", backward, {.static_numbers = {first + 1, first + 2, first + 3}})

RESIZE("upsample_nearest1d", Nearest<false>, NearestBackward<false>, 2);
RESIZE("upsample_nearest2d", Nearest<false>, NearestBackward<false>, 2);
RESIZE("upsample_nearest3d", Nearest<false>, NearestBackward<false>, 2);
RESIZE("_upsample_nearest_exact1d", Nearest<true>, NearestBackward<true>, 2);
RESIZE("_upsample_nearest_exact2d", Nearest<true>, NearestBackward<true>, 2);
RESIZE("_upsample_nearest_exact3d", Nearest<true>, NearestBackward<true>, 2);
RESIZE("upsample_linear1d", Interpolate<LinearMap>, InterpolateBackward<LinearMap>, 3);
RESIZE("upsample_bilinear2d", Interpolate<LinearMap>, InterpolateBackward<LinearMap>, 3);
RESIZE("upsample_trilinear3d", Interpolate<LinearMap>, InterpolateBackward<LinearMap>, 3);
RESIZE("upsample_bicubic2d", Interpolate<CubicMap>, InterpolateBackward<CubicMap>, 3);
RESIZE("_upsample_bilinear2d_aa", Interpolate<AntialiasedLinearMap>,
       InterpolateBackward<AntialiasedLinearMap>, 3);
RESIZE("_upsample_bicubic2d_aa", Interpolate<AntialiasedCubicMap>,
       InterpolateBackward<AntialiasedCubicMap>, 3);
RESIZE("_upsample_lanczos2d_aa", Interpolate<AntialiasedLanczosMap>,
       InterpolateBackward<AntialiasedLanczosMap>, 3);
#undef RESIZE

}  // namespace
}  // namespace torch_tpu::ops
