// Average pooling, fixed and adaptive windows, and its gradient.
#include <algorithm>

#include "ops/linear_map.h"
#include "ops/pool.h"

namespace torch_tpu::ops {
namespace {

// Which elements of a window count in the average.
struct Counting {
  bool include_padding;
  int64_t divisor_override;  // 0: none
};

// Counting arguments count_include_pad and divisor_override start at `first`.
Counting ReadCounting(const Call& c, int first) {
  return {c.boolean(first), c.integer_or(first + 1, 0)};
}

// Elements of window `o` along one dim. Windows that ceil_mode lets run past the padding count up
// to its end.
int64_t CountAlong(int64_t o, int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                   bool include_padding) {
  const int64_t start = o * stride - padding;
  const int64_t end = std::min(start + kernel, in + padding);
  return include_padding ? end - start : std::min(end, in) - std::max<int64_t>(start, 0);
}

// The same as CountAlong for all positions along `dim` of a tensor of dims `out`, as integers.
Value CountsAlong(Builder& b, const Dims& out, int64_t dim, int64_t in, int64_t kernel,
                  int64_t stride, int64_t padding, bool include_padding) {
  const TensorType type{DType::kS32, out};
  const auto number = [&](int64_t n) { return shlo::constant(b, n, type); };
  Value start =
      shlo::iota(b, dim, type) * static_cast<double>(stride) - static_cast<double>(padding);
  Value end = shlo::min(start + static_cast<double>(kernel), number(in + padding));
  if (include_padding) return end - start;
  return shlo::min(end, number(in)) - shlo::max(start, number(0));
}

// x / (number of elements of its window), for x over windows.
Value DivideByCount(Value x, const Pooling& p, const Dims& in, const Counting& counting) {
  if (counting.divisor_override != 0) return x / static_cast<double>(counting.divisor_override);
  const int64_t leading = x.rank() - p.rank();
  int64_t uniform = 1;
  Value varying;
  for (size_t d = 0; d < p.kernel.size(); ++d) {
    const int64_t dim = leading + static_cast<int64_t>(d), size = in[static_cast<size_t>(dim)];
    const auto count = [&](int64_t o) {
      return CountAlong(o, size, p.kernel[d], p.stride[d], p.padding[d], counting.include_padding);
    };
    bool equal = true;
    for (int64_t o = 1; o < x.dim(dim); ++o) equal = equal && count(o) == count(0);
    if (equal) {
      uniform *= count(0);
      continue;
    }
    Value counts = CountsAlong(x.builder(), x.dims(), dim, size, p.kernel[d], p.stride[d],
                               p.padding[d], counting.include_padding);
    varying = varying ? varying * counts : counts;
  }
  if (varying) return x / shlo::convert(varying * static_cast<double>(uniform), x.dtype());
  return x / static_cast<double>(uniform);
}

Value WindowSum(Value x, const Pooling& p, const Dims& out) {
  const shlo::Window window = PoolingWindow(&x, p, out);
  return shlo::reduce_window(x, shlo::scalar(x.builder(), 0.0, x.dtype()), window,
                             [](Value a, Value b) { return a + b; });
}

// self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
template <int kRank>
Value AvgPool(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const Pooling p = ReadPooling(c, 1, kRank, false);
  return DivideByCount(WindowSum(x, p, c.out().dims), p, x.dims(), ReadCounting(c, 5));
}

// grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
template <int kRank>
Value AvgPoolBackward(Call& c) {
  const Dims in = c.tensor(1).dims();
  Pooling p = ReadPooling(c, 2, kRank, false);
  Value dy = shlo::opmath(c.tensor(0));
  if (NumElements(dy.dims()) == 0) return shlo::constant(c.builder(), 0, c.out());
  dy = DivideByCount(dy, p, in, ReadCounting(c, 6));
  // An element's gradient is the sum over the windows that hold it: a window of the same size over
  // the spread dy.
  const size_t leading = in.size() - p.kernel.size();
  Dims low(leading, 0), high(leading, 0), interior(leading, 0);
  for (size_t d = 0; d < p.kernel.size(); ++d) {
    low.push_back(p.kernel[d] - 1 - p.padding[d]);
    high.push_back(in[leading + d] + p.padding[d] - (dy.dims()[leading + d] - 1) * p.stride[d] - 1);
    interior.push_back(p.stride[d] - 1);
  }
  Value spread = shlo::pad(dy, shlo::scalar(c.builder(), 0.0, dy.dtype()), low, high, interior);
  p.stride.assign(p.kernel.size(), 1);
  p.padding.assign(p.kernel.size(), 0);
  return WindowSum(spread, p, in);
}

bool Divides(const Dims& out, const Dims& in, int64_t rank) {
  for (int64_t i = 1; i <= rank; ++i) {
    const int64_t o = *(out.end() - i);
    if (o == 0 || *(in.end() - i) % o != 0) return false;
  }
  return true;
}

// Averages over windows [floor(o * in / out), ceil((o + 1) * in / out)).
Value AdaptiveMap(Builder& b, int64_t out, int64_t in, DType dtype) {
  Value first = MapRows(b, out, in, DType::kS32) * static_cast<double>(in);
  Value start = first / static_cast<double>(out);
  Value last = (first + static_cast<double>(in - 1)) / static_cast<double>(out);
  Value i = MapColumns(b, out, in, DType::kS32);
  Value size = shlo::convert(last - start + 1.0, dtype);
  return shlo::where((i >= start) & (i <= last), 1.0 / size, 0.0);
}

std::vector<Value> AdaptiveMaps(Builder& b, const Dims& out, const Dims& in, int64_t rank,
                                DType dtype) {
  std::vector<Value> maps;
  for (int64_t i = rank; i > 0; --i) {
    maps.push_back(AdaptiveMap(b, *(out.end() - i), *(in.end() - i), dtype));
  }
  return maps;
}

// Dims `in` with each of the last `rank` split into [out, in / out]; `split` receives the positions
// of the latter.
Dims SplitDims(const Dims& out, const Dims& in, int64_t rank, Dims* split) {
  Dims dims(in.begin(), in.end() - rank);
  for (int64_t i = rank; i > 0; --i) {
    dims.push_back(*(out.end() - i));
    split->push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(*(in.end() - i) / *(out.end() - i));
  }
  return dims;
}

// self, output_size
template <int kRank>
Value AdaptiveAvgPool(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const Dims& out = c.out().dims;
  if (NumElements(out) == 0) return shlo::constant(c.builder(), 0, c.out());
  if (!Divides(out, x.dims(), kRank)) {
    return ApplyMaps(x, AdaptiveMaps(c.builder(), out, x.dims(), kRank, x.dtype()), false);
  }
  Dims window;
  Value split = shlo::reshape(x, SplitDims(out, x.dims(), kRank, &window));
  return shlo::reduce_sum(split, window) /
         (static_cast<double>(NumElements(x.dims())) / static_cast<double>(NumElements(out)));
}

// grad_output, self
template <int kRank>
Value AdaptiveAvgPoolBackward(Call& c) {
  Value dy = shlo::opmath(c.tensor(0));
  const Dims in = c.tensor(1).dims(), out = dy.dims();
  if (NumElements(out) == 0) return shlo::constant(c.builder(), 0, c.out());
  if (!Divides(out, in, kRank)) {
    return ApplyMaps(dy, AdaptiveMaps(c.builder(), out, in, kRank, dy.dtype()), true);
  }
  Dims window;
  const Dims split = SplitDims(out, in, kRank, &window);
  Dims kept;
  for (int64_t i = 0; i < static_cast<int64_t>(split.size()); ++i) {
    if (std::find(window.begin(), window.end(), i) == window.end()) kept.push_back(i);
  }
  dy = dy / (static_cast<double>(NumElements(in)) / static_cast<double>(NumElements(out)));
  return shlo::reshape(shlo::broadcast_in_dim(dy, split, kept), in);
}

LOWER("aten::avg_pool2d", AvgPool<2>);
LOWER("aten::avg_pool3d", AvgPool<3>);
LOWER("aten::avg_pool2d_backward", AvgPoolBackward<2>);
LOWER("aten::avg_pool3d_backward", AvgPoolBackward<3>);
// The public names, for their out= forms.
LOWER("aten::adaptive_avg_pool2d", AdaptiveAvgPool<2>);
LOWER("aten::adaptive_avg_pool3d", AdaptiveAvgPool<3>);
LOWER("aten::adaptive_avg_pool3d_backward", AdaptiveAvgPoolBackward<3>);
LOWER("aten::_adaptive_avg_pool2d", AdaptiveAvgPool<2>);
LOWER("aten::_adaptive_avg_pool3d", AdaptiveAvgPool<3>);
LOWER("aten::_adaptive_avg_pool2d_backward", AdaptiveAvgPoolBackward<2>);
LOWER("aten::_adaptive_avg_pool3d_backward", AdaptiveAvgPoolBackward<3>);

}  // namespace
}  // namespace torch_tpu::ops
