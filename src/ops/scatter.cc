// scatter, scatter_add and scatter_reduce.
#include "ops/index_util.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

// Arguments (self, dim, index, ...).
struct Line {
  Value x;
  int64_t dim;
  Value index;
};

Line LineOf(Call& c) {
  Value x = AtLeast1d(c.tensor(0));
  const int64_t dim = shlo::wrap_dim(c.integer(1), x.rank());
  const IndexRange range = BoundsOf(dim, x.dim(dim), /*wraps=*/false);
  return {x, dim, ScatterIndex(c, AtLeast1d(c.tensor(2)), range)};
}

// Argument 3 in self's dtype: a tensor, or a number for every index.
Value Source(const Call& c, const Line& line) {
  Value source = convert(c.tensor(3), line.x.dtype());
  if (source.rank() == line.index.rank()) return source;
  return broadcast_in_dim(source, line.index.dims(), {});
}

// scatter.src(self, dim, index, src) and scatter.value(self, dim, index, value)
Value Scatter(Call& c) {
  const Line line = LineOf(c);
  return ToOut(c, ScatterAlong(line.x, line.dim, line.index, Source(c, line), Replace));
}

// scatter_add(self, dim, index, src)
Value ScatterAdd(Call& c) {
  const Line line = LineOf(c);
  return ToOut(c, ScatterAlong(opmath(line.x), line.dim, line.index, opmath(Source(c, line)), Add));
}

// scatter_reduce.two(self, dim, index, src, reduce, include_self), and scatter.reduce and
// scatter.value_reduce, which end after `reduce`.
Value ScatterReduce(Call& c) {
  const Line line = LineOf(c);
  Value source = Source(c, line);
  // Cut to the indices first: whatever is counted or marked must not come from unused rows of src.
  if (source.dims() != line.index.dims()) {
    source = slice(source, Dims(source.rank(), 0), line.index.dims(), Dims(source.rank(), 1));
  }
  auto place = [&](Value into, Value updates, const shlo::Combine& combine) {
    return ScatterAlong(into, line.dim, line.index, updates, combine);
  };
  return ToOut(c, ReduceInto(line.x, source, c.string(4), c.boolean_or(5, true), place));
}

LOWER("aten::scatter.src", Scatter);
LOWER("aten::scatter.value", Scatter);
LOWER("aten::scatter.reduce", ScatterReduce);
LOWER("aten::scatter.value_reduce", ScatterReduce);
LOWER("aten::scatter_add", ScatterAdd);
LOWER("aten::scatter_reduce.two", ScatterReduce);

}  // namespace
}  // namespace torch_tpu::ops
