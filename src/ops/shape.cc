// Rearranging whole tensors: cat, stack, flip, roll, repeat, pixel_shuffle and relatives.
#include "ops/call.h"

namespace torch_tpu::ops {
namespace {

// Concatenation in the result's dtype. One-dimensional tensors of no elements are skipped whatever
// the others' rank.
Value Concatenate(const Call& c, const std::vector<Value>& tensors, int64_t dim) {
  std::vector<Value> parts;
  for (const Value& t : tensors) {
    if (t.dims() != Dims{0} || c.out().rank() == 1) parts.push_back(convert(t, c.out().dtype));
  }
  if (parts.empty()) return constant(c.builder(), 0, c.out());
  return parts.size() == 1 ? parts[0] : concatenate(parts, shlo::wrap_dim(dim, c.out().rank()));
}

// cat(tensors, dim)
Value Cat(Call& c) { return Concatenate(c, c.tensors(0), c.integer(1)); }

// stack(tensors, dim)
Value Stack(Call& c) {
  const int64_t dim = shlo::wrap_dim(c.integer(1), c.out().rank());
  std::vector<Value> parts;
  for (const Value& t : c.tensors(0)) parts.push_back(unsqueeze(t, dim));
  return Concatenate(c, parts, dim);
}

// _chunk_cat(tensors, dim, num_chunks): each tensor is filled up with zeros, so that it makes
// chunks of one size, and flattened from `dim` on within a chunk; then chunk goes beside chunk.
Value ChunkCat(Call& c) {
  const int64_t chunks = c.integer(2);
  std::vector<Value> parts;
  for (Value t : c.tensors(0)) {
    const int64_t dim = shlo::wrap_dim(c.integer(1), t.rank());
    Dims none(t.rank(), 0), missing = none;
    missing[dim] = (chunks - t.dim(dim) % chunks) % chunks;
    t = pad(t, shlo::scalar(c.builder(), int64_t{0}, t.dtype()), none, missing, none);
    Dims dims(t.dims().begin(), t.dims().begin() + dim);
    const int64_t outer = NumElements(dims) * chunks;
    dims.push_back(chunks);
    dims.push_back(outer == 0 ? 0 : NumElements(t.dims()) / outer);
    parts.push_back(reshape(t, dims));
  }
  return Concatenate(c, parts, c.out().rank() - 1);
}

// split_copy(self, split_size, dim) and split_with_sizes_copy(self, split_sizes, dim): consecutive
// parts, each as long as its result.
Results SplitCopy(Call& c) {
  Value x = c.tensor(0);
  const int64_t dim = shlo::wrap_dim(c.integer(2), x.rank());
  Results parts;
  int64_t start = 0;
  for (int k = 0; k < c.num_outs(); ++k) {
    const int64_t limit = start + c.out(k).dims[dim];
    parts.push_back(slice_dim(x, dim, start, limit));
    start = limit;
  }
  return parts;
}

// flip(self, dims)
Value Flip(Call& c) {
  Value x = c.tensor(0);
  Dims dims;
  if (x.rank() > 0) {
    for (int64_t d : c.ints(1)) dims.push_back(shlo::wrap_dim(d, x.rank()));
  }
  return dims.empty() ? x : reverse(x, dims);
}

Value RollDim(Value x, int64_t dim, int64_t shift) {
  const int64_t n = x.dim(dim);
  if (n == 0) return x;
  const int64_t start = ((-shift) % n + n) % n;
  if (start == 0) return x;
  const Value parts[] = {slice_dim(x, dim, start, n), slice_dim(x, dim, 0, start)};
  return concatenate(parts, dim);
}

// roll(self, shifts, dims): no dims rolls the flattened tensor.
Value Roll(Call& c) {
  Value x = c.tensor(0);
  const Dims shifts = c.ints(1), dims = c.ints(2);
  if (dims.empty()) {
    Value flat = reshape(x, {NumElements(x.dims())});
    return reshape(RollDim(flat, 0, shifts.at(0)), x.dims());
  }
  if (x.rank() == 0) return x;
  for (size_t i = 0; i < dims.size(); ++i)
    x = RollDim(x, shlo::wrap_dim(dims[i], x.rank()), shifts.at(i));
  return x;
}

// repeat(self, repeats)
Value Repeat(Call& c) {
  Value x = c.tensor(0);
  const Dims repeats = c.ints(1);
  const size_t added = repeats.size() - static_cast<size_t>(x.rank());
  Dims interleaved, positions;
  for (size_t i = 0; i < repeats.size(); ++i) {
    interleaved.push_back(repeats[i]);
    if (i < added) continue;
    positions.push_back(static_cast<int64_t>(interleaved.size()));
    interleaved.push_back(x.dim(static_cast<int64_t>(i - added)));
  }
  return reshape(broadcast_in_dim(x, interleaved, positions), c.out().dims);
}

// channel_shuffle(self, groups)
Value ChannelShuffle(Call& c) {
  Value x = c.tensor(0);
  const int64_t groups = c.integer(1);
  Dims split = x.dims();
  split[1] /= groups;
  split.insert(split.begin() + 1, groups);
  return reshape(swap_dims(reshape(x, split), 1, 2), x.dims());
}

// Leading dims of an image batch made one, then (channels, height, width).
Value AsImages(Value x) {
  const Dims& dims = x.dims();
  int64_t n = 1;
  for (size_t i = 0; i + 3 < dims.size(); ++i) n *= dims[i];
  return reshape(x, {n, x.dim(-3), x.dim(-2), x.dim(-1)});
}

// pixel_shuffle(self, upscale_factor)
Value PixelShuffle(Call& c) {
  Value x = AsImages(c.tensor(0));
  const int64_t r = c.integer(1);
  Value split = reshape(x, {x.dim(0), x.dim(1) / (r * r), r, r, x.dim(2), x.dim(3)});
  return reshape(transpose(split, {0, 1, 4, 2, 5, 3}), c.out().dims);
}

// pixel_unshuffle(self, downscale_factor)
Value PixelUnshuffle(Call& c) {
  Value x = AsImages(c.tensor(0));
  const int64_t r = c.integer(1);
  Value split = reshape(x, {x.dim(0), x.dim(1), x.dim(2) / r, r, x.dim(3) / r, r});
  return reshape(transpose(split, {0, 1, 3, 5, 2, 4}), c.out().dims);
}

LOWER("aten::cat", Cat);
LOWER("aten::stack", Stack);
LOWER("aten::_stack", Stack);
LOWER("aten::_chunk_cat", ChunkCat);
LOWER("aten::split_copy.Tensor", SplitCopy);
LOWER("aten::split_with_sizes_copy", SplitCopy);
LOWER("aten::flip", Flip);
LOWER("aten::roll", Roll);
LOWER("aten::repeat", Repeat);
LOWER("aten::channel_shuffle", ChannelShuffle);
LOWER("aten::pixel_shuffle", PixelShuffle);
LOWER("aten::pixel_unshuffle", PixelUnshuffle);

}  // namespace
}  // namespace torch_tpu::ops
