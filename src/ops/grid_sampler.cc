// Sampling an image at given positions (grid_sample), in two and three spatial dims, and the
// gradients.
//
// One position reads a few neighbours ("taps") along each spatial dim; the sample is the sum over
// all combinations of taps of value * product of weights. Forward, the gradient in the image (a
// scatter of the same products) and the gradient in the grid (one weight replaced by its slope) are
// the same walk over the combinations.
#include <functional>

#include "ops/index_util.h"

namespace torch_tpu::ops {
namespace {

enum Interpolation : int64_t { kBilinear = 0, kNearest = 1, kBicubic = 2 };
enum Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

struct Options {
  int64_t interpolation, padding;
  bool align_corners;
};

// The arguments from `first` on.
Options ReadOptions(const Call& c, int first) {
  return {c.integer(first), c.integer(first + 1), c.boolean(first + 2)};
}

// A position in elements along one dim, and its derivative in the grid's number.
struct Position {
  Value at, slope;
};

Position Unnormalize(Value grid, int64_t size, bool align_corners) {
  const double scale = static_cast<double>(align_corners ? size - 1 : size) * 0.5;
  Value at = (grid + 1.0) * scale;
  return {align_corners ? at : at - 0.5, full_like(grid, scale)};
}

// Held in [0, size - 1]. NaN goes to 0; the borders themselves have no slope.
Position Clip(const Position& p, int64_t size) {
  const double last = static_cast<double>(size - 1);
  Value low = where(p.at > 0.0, p.at, 0.0);
  Value at = where(low < last, low, last);
  return {at, where((p.at > 0.0) & (p.at < last), p.slope, 0.0)};
}

// Mirrored at the outermost elements (align_corners) or at their outer edges.
Position Reflect(const Position& p, int64_t size, bool align_corners) {
  const double low = align_corners ? 0.0 : -0.5;
  const double span = static_cast<double>(align_corners ? size - 1 : size);
  if (span == 0.0) return {full_like(p.at, 0), full_like(p.at, 0)};
  Value from_low = p.at - low, distance = abs(from_low);
  Value extra = remainder(distance, full_like(distance, span));
  Value flips = floor(distance / span);
  Value odd = remainder(flips, full_like(flips, 2)) != 0.0;
  Value slope = where(from_low < 0.0, -p.slope, p.slope);
  return {where(odd, span - extra, extra) + low, where(odd, -slope, slope)};
}

Position Pad(const Position& p, int64_t size, const Options& o) {
  if (o.padding == kBorder) return Clip(p, size);
  if (o.padding == kReflection) return Clip(Reflect(p, size, o.align_corners), size);
  return p;
}

struct Tap {
  Value index;          // kS32, within the image
  Value inside;         // i1: the tap itself lies within the image
  Value weight, slope;  // and the weight's derivative in the grid's number
};

Tap MakeTap(Value at, int64_t size, Value weight, Value slope) {
  const double last = static_cast<double>(size - 1);
  Value low = where(at > 0.0, at, 0.0);
  return {convert(where(low < last, low, last), DType::kS32), (at >= 0.0) & (at <= last), weight,
          slope};
}

// The cubic convolution kernel of parameter -0.75 and its derivative, for distances up to 1 and
// from 1 to 2.
constexpr double kA = -0.75;
Value Near(Value x) { return (x * (kA + 2) - (kA + 3)) * x * x + 1.0; }
Value NearSlope(Value x) { return (x * (3 * (kA + 2)) - 2 * (kA + 3)) * x; }
Value Far(Value x) { return ((x * kA - 5 * kA) * x + 8 * kA) * x - 4 * kA; }
Value FarSlope(Value x) { return (x * (3 * kA) - 10 * kA) * x + 8 * kA; }

std::vector<Tap> CubicTaps(const Position& p, int64_t size, const Options& o) {
  Value base = floor(p.at), t = p.at - base, rest = 1.0 - t;
  const Value weights[] = {Far(t + 1.0), Near(t), Near(rest), Far(rest + 1.0)};
  const Value slopes[] = {FarSlope(t + 1.0), NearSlope(t), -NearSlope(rest), -FarSlope(rest + 1.0)};
  std::vector<Tap> taps;
  for (int i = 0; i < 4; ++i) {
    const Position tap = Pad({base + static_cast<double>(i - 1), p.slope}, size, o);
    taps.push_back(MakeTap(tap.at, size, weights[i], slopes[i] * p.slope));
  }
  return taps;
}

std::vector<Tap> TapsAlong(Value grid, int64_t size, const Options& o) {
  Position p = Unnormalize(grid, size, o.align_corners);
  if (o.interpolation == kBicubic) return CubicTaps(p, size, o);
  p = Pad(p, size, o);
  if (o.interpolation == kNearest) {
    Value nearest = round_nearest_even(p.at);
    return {MakeTap(nearest, size, full_like(nearest, 1), full_like(nearest, 0))};
  }
  Value base = floor(p.at), next = base + 1.0;
  return {MakeTap(base, size, next - p.at, -p.slope), MakeTap(next, size, p.at - base, p.slope)};
}

struct Sampler {
  Dims image;                          // spatial dims
  std::vector<std::vector<Tap>> axes;  // by spatial dim; every tap is [n, positions]
  int64_t batch, channels, positions;
};

// Arguments input and grid from `first` on.
Sampler MakeSampler(const Call& c, int first, const Options& o) {
  const Dims dims = c.tensor(first).dims();
  Value grid = shlo::opmath(c.tensor(first + 1));
  Sampler s;
  s.image.assign(dims.begin() + 2, dims.end());
  s.batch = dims[0];
  s.channels = dims[1];
  const int64_t rank = static_cast<int64_t>(s.image.size());
  s.positions = s.batch == 0 ? 0 : NumElements(grid.dims()) / rank / s.batch;
  for (int64_t d = 0; d < rank; ++d) {  // the grid names the last dim first
    const int64_t k = rank - 1 - d;
    Value along = reshape(slice_dim(grid, rank + 1, k, k + 1), {s.batch, s.positions});
    s.axes.push_back(TapsAlong(along, s.image[static_cast<size_t>(d)], o));
  }
  return s;
}

// One combination of taps.
struct Corner {
  Value index;                // [n, positions] among the elements of a plane
  Value inside;               // i1
  Value weight;               // product of the weights
  std::vector<Value> slopes;  // by axis: the same product with that axis's slope
};

void ForEachCorner(const Sampler& s, const std::function<void(const Corner&)>& visit) {
  const size_t rank = s.axes.size();
  std::vector<size_t> at(rank, 0);
  while (true) {
    Corner corner;
    for (size_t d = 0; d < rank; ++d) {
      const Tap& tap = s.axes[d][at[d]];
      corner.index =
          d == 0 ? tap.index : corner.index * static_cast<double>(s.image[d]) + tap.index;
      corner.inside = d == 0 ? tap.inside : corner.inside & tap.inside;
      for (Value& slope : corner.slopes) slope = slope * tap.weight;
      corner.slopes.push_back(d == 0 ? tap.slope : corner.weight * tap.slope);
      corner.weight = d == 0 ? tap.weight : corner.weight * tap.weight;
    }
    visit(corner);
    size_t d = rank;
    while (d-- > 0 && ++at[d] == s.axes[d].size()) at[d] = 0;
    if (d == static_cast<size_t>(-1)) return;
  }
}

// v[n, positions] over the channels.
Value OverChannels(const Sampler& s, Value v) {
  return broadcast_in_dim(v, {s.batch, s.channels, s.positions}, {0, 2});
}

// image[n, channels, plane] at a corner, 0 outside: [n, channels, positions].
Value Read(const Sampler& s, Value image, const Corner& corner) {
  shlo::GatherDims dims;
  dims.offset_dims = {1};
  dims.collapsed_slice_dims = {2};
  dims.operand_batching_dims = {0};
  dims.start_indices_batching_dims = {0};
  dims.start_index_map = {2};
  dims.index_vector_dim = 2;
  Value found = gather(image, unsqueeze(corner.index, -1), dims, {1, s.channels, 1});
  return where(OverChannels(s, corner.inside), found, 0.0);
}

Value AddInto(const Sampler& s, Value image, const Corner& corner, Value updates) {
  shlo::ScatterDims dims;
  dims.update_window_dims = {1};
  dims.inserted_window_dims = {2};
  dims.input_batching_dims = {0};
  dims.scatter_indices_batching_dims = {0};
  dims.scatter_dims_to_operand_dims = {2};
  dims.index_vector_dim = 2;
  updates = where(OverChannels(s, corner.inside), updates, 0.0);
  return scatter(image, unsqueeze(corner.index, -1), updates, dims, Add);
}

Value Planes(const Sampler& s, Value image) {
  return reshape(shlo::opmath(image), {s.batch, s.channels, NumElements(s.image)});
}

// input, grid, interpolation_mode, padding_mode, align_corners
Value Sample(Call& c) {
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  const Sampler s = MakeSampler(c, 0, ReadOptions(c, 2));
  Value image = Planes(s, c.tensor(0)), sum;
  ForEachCorner(s, [&](const Corner& corner) {
    // In three dims PyTorch skips what lies outside; in two it multiplies 0 with a weight that may
    // be NaN.
    Value weight = s.axes.size() == 3 ? where(corner.inside, corner.weight, 0.0) : corner.weight;
    Value part = Read(s, image, corner) * OverChannels(s, weight);
    sum = sum ? sum + part : part;
  });
  return reshape(sum, c.out().dims);
}

// grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask
Results SampleBackward(Call& c) {
  const std::vector<bool> mask = c.bools(6);
  const TensorType image_type = c.tensor(1).type(), grid_type = c.tensor(2).type();
  Results grads(2);
  if (NumElements(image_type.dims) == 0 || NumElements(grid_type.dims) == 0) {
    if (mask[0]) grads[0] = constant(c.builder(), 0, image_type);
    grads[1] = constant(c.builder(), 0, grid_type);
    return grads;
  }
  const Sampler s = MakeSampler(c, 1, ReadOptions(c, 3));
  Value image = Planes(s, c.tensor(1));
  Value dy = reshape(shlo::opmath(c.tensor(0)), {s.batch, s.channels, s.positions});
  Value d_image = full_like(image, 0);
  std::vector<Value> d_axes(s.axes.size());
  ForEachCorner(s, [&](const Corner& corner) {
    if (mask[0]) d_image = AddInto(s, d_image, corner, dy * OverChannels(s, corner.weight));
    Value product = shlo::reduce_sum(dy * Read(s, image, corner), {1});
    for (size_t d = 0; d < d_axes.size(); ++d) {
      Value part = where(corner.inside, product * corner.slopes[d], 0.0);
      d_axes[d] = d_axes[d] ? d_axes[d] + part : part;
    }
  });
  if (mask[0]) grads[0] = reshape(d_image, image_type.dims);
  std::vector<Value> columns;
  for (size_t d = d_axes.size(); d-- > 0;) columns.push_back(unsqueeze(d_axes[d], -1));
  grads[1] = reshape(concatenate(columns, 2), grid_type.dims);
  return grads;
}

LOWER("aten::grid_sampler_2d", Sample);
LOWER("aten::grid_sampler_3d", Sample);
LOWER("aten::grid_sampler_2d_backward", SampleBackward);
LOWER("aten::grid_sampler_3d_backward", SampleBackward);

}  // namespace
}  // namespace torch_tpu::ops
