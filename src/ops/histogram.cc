// Histograms of one and more dims: bin edges that are given, or evenly spaced over a range.
#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/sort_util.h"

namespace torch_tpu::ops {
namespace {

// Samples as [n, dims]: self is [..., dims], or any tensor for one dim.
Value Samples(Value self, int64_t dims) {
  return reshape(self, {dims == 0 ? 0 : NumElements(self.dims()) / dims, dims});
}

Value Column(Value samples, int64_t d) {
  return reshape(slice_dim(samples, 1, d, d + 1), {samples.dim(0)});
}

// `bins` + 1 numbers from low to high, counted from the nearer end as torch.linspace does.
Value EvenEdges(Value low, Value high, int64_t bins) {
  Builder& b = low.builder();
  const TensorType type = {low.dtype(), {bins + 1}};
  Value step = (high - low) / static_cast<double>(bins);
  Value i = shlo::iota(b, 0, type);
  const int64_t half = (bins + 1) / 2;
  Value from_low = i * step + low, from_high = high - (static_cast<double>(bins) - i) * step;
  return where(i < static_cast<double>(half), from_low, from_high);
}

// Edges along dim d, spread over range[2d], range[2d + 1] (argument `range`), or over the data. A
// range of no extent is widened by a half on both sides.
Value EdgesOverRange(const Call& c, Value column, int64_t d, int64_t bins, int range) {
  Builder& b = c.builder();
  Value low = shlo::scalar(b, 0.0, column.dtype()), high = shlo::scalar(b, 1.0, column.dtype());
  if (c.has(range)) {
    const std::vector<Value> bounds = c.numbers(range);
    low = convert(bounds.at(static_cast<size_t>(2 * d)), column.dtype());
    high = convert(bounds.at(static_cast<size_t>(2 * d + 1)), column.dtype());
  } else if (column.dim(0) > 0) {
    low = shlo::reduce_min(column, {0});
    high = shlo::reduce_max(column, {0});
  }
  Value flat = low == high;
  return EvenEdges(where(flat, low - 0.5, low), where(flat, high + 0.5, high), bins);
}

// The bin of every number, -1 outside of the edges. The last bin holds its upper edge.
Value BinOf(Value column, Value edges) {
  const int64_t bins = edges.dim(0) - 1;
  Value bin = BinarySearch(edges, column, [](Value e, Value v) { return e <= v; }) - 1.0;
  bin = min(bin, full_like(bin, static_cast<double>(bins - 1)));
  const auto edge = [&](int64_t i) { return reshape(slice_dim(edges, 0, i, i + 1), {}); };
  return where((column >= edge(0)) & (column <= edge(bins)), bin, -1.0);
}

// Sums of `weight` (1 without one) by bin; as a density, divided by the total and the bin sizes.
Value Count(Value samples, const std::vector<Value>& edges, std::optional<Value> weight,
            bool density) {
  Builder& b = samples.builder();
  Dims dims;
  Value index, outside;
  for (size_t d = 0; d < edges.size(); ++d) {
    const int64_t bins = edges[d].dim(0) - 1;
    dims.push_back(bins);
    Value bin = convert(BinOf(Column(samples, static_cast<int64_t>(d)), edges[d]), DType::kS64);
    Value out = bin < 0.0;
    outside = outside ? outside | out : out;
    index = index ? index * static_cast<double>(bins) + bin : bin;
  }
  Value counts = shlo::constant(b, 0, {samples.dtype(), {NumElements(dims)}});
  if (samples.dim(0) > 0) {
    Value ones = shlo::constant(b, 1, {samples.dtype(), {samples.dim(0)}});
    Value updates = weight ? reshape(convert(*weight, samples.dtype()), ones.dims()) : ones;
    counts = ScatterDim(counts, 0, where(outside, -1.0, index), updates, Add);
  }
  counts = reshape(counts, dims);
  if (!density) return counts;
  counts = counts / shlo::reduce_sum(counts, AllDims(counts));
  for (size_t d = 0; d < edges.size(); ++d) {
    const int64_t n = dims[d];
    Value width = slice_dim(edges[d], 0, 1, n + 1) - slice_dim(edges[d], 0, 0, n);
    counts = counts / broadcast_in_dim(width, dims, {static_cast<int64_t>(d)});
  }
  return counts;
}

void RefuseUnless(bool ok, const char* message) {
  if (!ok) throw shlo::BuildError(message);
}

// self, bins, range, weight, density
Results HistogramCount(Call& c) {
  Value samples = Samples(c.tensor(0), 1);
  Value edges = EdgesOverRange(c, Column(samples, 0), 0, c.integer(1), 2);
  return {Count(samples, {edges}, c.opt_tensor(3), c.boolean(4)), edges};
}

std::vector<TensorType> HistogramCountShape(const Call& c) {
  const DType dtype = c.tensor(0).dtype();
  RefuseUnless(IsFloat(dtype) && !IsReducedFloat(dtype), "histogram: expected float32 or float64");
  RefuseUnless(c.integer(1) > 0, "histogram: bins must be > 0");
  RefuseUnless(!c.has(2) || c.numbers(2).size() == 2, "histogram: range must have two elements");
  return {{dtype, {c.integer(1)}}, {dtype, {c.integer(1) + 1}}};
}

// self, bins, weight, density
Results HistogramEdges(Call& c) {
  Value edges = c.tensor(1);
  return {Count(Samples(c.tensor(0), 1), {edges}, c.opt_tensor(2), c.boolean(3)), edges};
}

std::vector<TensorType> HistogramEdgesShape(const Call& c) {
  const TensorType edges = c.tensor(1).type();
  RefuseUnless(edges.dims.size() == 1 && edges.dims[0] > 1,
               "histogram: bins must be a 1-d tensor of at least two edges");
  RefuseUnless(edges.dtype == c.tensor(0).dtype(), "histogram: bins must have the dtype of self");
  return {{edges.dtype, {edges.dims[0] - 1}}, edges};
}

// Argument `bins` as one count for each column of self.
Dims BinCounts(const Call& c) {
  Dims bins = c.ints(1);
  RefuseUnless(c.tensor(0).rank() >= 2, "histogramdd: input tensor should have at least 2 dims");
  const int64_t dims = c.tensor(0).dim(-1);
  RefuseUnless(static_cast<int64_t>(bins.size()) == dims,
               "histogramdd: the size of bins should be equal to the innermost dim of self");
  for (int64_t n : bins) RefuseUnless(n > 0, "histogramdd: bins must be > 0");
  RefuseUnless(!c.has(2) || c.numbers(2).size() == 2 * bins.size(),
               "histogramdd: range must have two elements for each dim");
  return bins;
}

std::vector<Value> EdgesOfCounts(const Call& c, Value samples) {
  std::vector<Value> edges;
  const Dims bins = BinCounts(c);
  for (size_t d = 0; d < bins.size(); ++d) {
    const int64_t k = static_cast<int64_t>(d);
    edges.push_back(EdgesOverRange(c, Column(samples, k), k, bins[d], 2));
  }
  return edges;
}

// self, bins, range, weight, density
Results DimsBinEdges(Call& c) {
  return EdgesOfCounts(c, Samples(c.tensor(0), c.tensor(0).dim(-1)));
}

std::vector<TensorType> DimsBinEdgesShape(const Call& c) {
  std::vector<TensorType> types;
  for (int64_t n : BinCounts(c)) types.push_back({c.tensor(0).dtype(), {n + 1}});
  return types;
}

Value DimsCount(Call& c) {
  Value samples = Samples(c.tensor(0), c.tensor(0).dim(-1));
  return Count(samples, EdgesOfCounts(c, samples), c.opt_tensor(3), c.boolean(4));
}

std::vector<TensorType> DimsCountShape(const Call& c) {
  return {{c.tensor(0).dtype(), BinCounts(c)}};
}

// self, bins, weight, density
Value DimsEdges(Call& c) {
  const std::vector<Value> edges = c.tensors(1);
  Value samples = Samples(c.tensor(0), static_cast<int64_t>(edges.size()));
  return Count(samples, edges, c.opt_tensor(2), c.boolean(3));
}

std::vector<TensorType> DimsEdgesShape(const Call& c) {
  Dims dims;
  for (const Value& edges : c.tensors(1)) {
    RefuseUnless(edges.rank() == 1 && edges.dim(0) > 1 && edges.dtype() == c.tensor(0).dtype(),
                 "histogramdd: bins must be 1-d tensors of at least two edges, of self's dtype");
    dims.push_back(edges.dim(0) - 1);
  }
  RefuseUnless(c.tensor(0).rank() >= 2 && c.tensor(0).dim(-1) == static_cast<int64_t>(dims.size()),
               "histogramdd: expected one tensor of bin edges for each column of self");
  return {{c.tensor(0).dtype(), dims}};
}

LOWER("aten::histogram.bin_ct", HistogramCount, {.shape = HistogramCountShape});
LOWER("aten::histogram.bins_tensor", HistogramEdges, {.shape = HistogramEdgesShape});
LOWER("aten::_histogramdd_bin_edges", DimsBinEdges, {.shape = DimsBinEdgesShape});
LOWER("aten::_histogramdd_from_bin_cts", DimsCount, {.shape = DimsCountShape});
LOWER("aten::_histogramdd_from_bin_tensors", DimsEdges, {.shape = DimsEdgesShape});

}  // namespace
}  // namespace torch_tpu::ops
