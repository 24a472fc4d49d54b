// Helpers of the pooling families.
#include "ops/pool.h"

namespace torch_tpu::ops {

Pooling ReadPooling(const Call& c, int first, int64_t rank, bool dilated) {
  const auto read = [&](int i) {
    Dims values = c.ints(i);
    if (values.size() == 1) values.resize(static_cast<size_t>(rank), values[0]);
    return values;
  };
  Pooling p;
  p.kernel = read(first);
  p.stride = read(first + 1);
  if (p.stride.empty()) p.stride = p.kernel;
  p.padding = read(first + 2);
  p.dilation = dilated ? read(first + 3) : Dims(p.kernel.size(), 1);
  return p;
}

shlo::Window PoolingWindow(Value* x, const Pooling& p, const Dims& out) {
  const size_t leading = static_cast<size_t>(x->rank() - p.rank());
  shlo::Window w;
  w.dimensions.assign(leading, 1);
  w.strides.assign(leading, 1);
  w.window_dilations.assign(leading, 1);
  w.padding_low.assign(leading, 0);
  w.padding_high.assign(leading, 0);
  for (size_t i = 0; i < p.kernel.size(); ++i) {
    const int64_t dim = static_cast<int64_t>(leading + i);
    const int64_t end =
        (out[leading + i] - 1) * p.stride[i] + (p.kernel[i] - 1) * p.dilation[i] + 1;
    const int64_t high = end - p.padding[i] - x->dim(dim);
    if (high < 0) *x = shlo::slice_dim(*x, dim, 0, x->dim(dim) + high);
    w.dimensions.push_back(p.kernel[i]);
    w.strides.push_back(p.stride[i]);
    w.window_dilations.push_back(p.dilation[i]);
    w.padding_low.push_back(p.padding[i]);
    w.padding_high.push_back(high < 0 ? 0 : high);
  }
  w.base_dilations.assign(w.dimensions.size(), 1);
  return w;
}

Value PlaneIndex(Builder& b, const Dims& dims, int64_t rank, DType dtype) {
  Value index;
  int64_t step = 1;
  for (int64_t i = static_cast<int64_t>(dims.size()) - 1; rank > 0; --i, --rank) {
    Value along = shlo::iota(b, i, {dtype, dims});
    if (step != 1) along = along * static_cast<double>(step);
    index = index ? index + along : along;
    step *= dims[static_cast<size_t>(i)];
  }
  return index;
}

DType PlaneIndexType(const Dims& dims, int64_t rank) {
  const int64_t plane = NumElements(Dims(dims.end() - rank, dims.end()));
  return plane < (int64_t{1} << 31) ? DType::kS32 : DType::kS64;
}

std::vector<Value> LargerPair(std::span<const Value> pairs) {
  Value a = pairs[0], ai = pairs[1], b = pairs[2], bi = pairs[3];
  Value keep = (a > b) | ((a == b) & (ai < bi));
  if (IsFloat(a.dtype())) {
    Value b_is_number = !shlo::is_nan(b);
    keep = keep | (shlo::is_nan(a) & (b_is_number | (ai > bi)));
  }
  return {shlo::select(keep, a, b), shlo::select(keep, ai, bi)};
}

Value AddAtPlaneIndices(Value values, Value indices, const Dims& dims, int64_t rank) {
  const int64_t plane = NumElements(Dims(dims.end() - rank, dims.end()));
  const int64_t planes = NumElements(Dims(dims.begin(), dims.end() - rank));
  const int64_t updates = NumElements(Dims(values.dims().end() - rank, values.dims().end()));
  Value zeros = shlo::constant(values.builder(), 0, {values.dtype(), {planes, plane}});
  shlo::ScatterDims scatter;
  scatter.inserted_window_dims = {1};
  scatter.input_batching_dims = {0};
  scatter.scatter_indices_batching_dims = {0};
  scatter.scatter_dims_to_operand_dims = {1};
  scatter.index_vector_dim = 2;
  Value sum = shlo::scatter(zeros, shlo::reshape(indices, {planes, updates, 1}),
                            shlo::reshape(values, {planes, updates}), scatter,
                            [](Value a, Value b) { return a + b; });
  return shlo::reshape(sum, dims);
}

}  // namespace torch_tpu::ops
