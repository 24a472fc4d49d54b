// What reductions and their relatives share: which dims an argument names, and the extreme of a dim
// with its position.
#pragma once

#include <utility>

#include "ops/call.h"

namespace torch_tpu::ops {

// The wrapped dims that argument i names. None and an empty list mean all dims; a rank-0 tensor has
// none.
Dims ReduceDims(const Call& c, int i, const Value& x);
// All dims of x.
Dims AllDims(const Value& x);
// Product of the sizes of `dims`.
int64_t CountOver(const Value& x, const Dims& dims);

// `v` with the dims of output k, which has as many elements: settles keepdim.
Value ToOut(const Call& c, Value v, int k = 0);
// x itself, or [1] for a rank-0 tensor, so that dim arguments of 0 and -1 are in range.
Value AtLeast1d(Value x);
// i1: x is not zero. NaN counts as true.
Value AsBool(Value x);
// kS32 where all of [0, size] fits, else kS64: narrow index numbers cost less on every device.
DType IndexDType(int64_t size);

enum class Extreme { kMin, kMax };
// i1: `next` is more extreme than `best`, or as extreme and `tie` holds. NaN is more extreme than
// any number.
Value Beats(Value next, Value best, Extreme extreme, Value tie);
// The value that every other one beats.
Value LeastExtreme(Builder& b, DType dtype, Extreme extreme);
// The extreme along `dim` (removed) and its first position, of IndexDType.
std::pair<Value, Value> ArgExtreme(Value x, int64_t dim, Extreme extreme);

}  // namespace torch_tpu::ops
