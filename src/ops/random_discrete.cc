// Random integers, permutations and samples of categories.
#include <algorithm>
#include <limits>

#include "ops/pointwise.h"
#include "ops/random.h"
#include "ops/reduce_util.h"
#include "ops/scan_util.h"

namespace torch_tpu::ops {
namespace {

using shlo::broadcast_to;

// --- integers
// --------------------------------------------------------------------------------------

int64_t LargestInteger(DType dtype) {
  switch (dtype) {
    case DType::kPred:
      return 1;
    case DType::kBF16:
      return int64_t{1} << 8;
    case DType::kF16:
      return int64_t{1} << 11;
    case DType::kF32:
      return int64_t{1} << 24;
    case DType::kF64:
      return int64_t{1} << 53;
    default:
      break;
  }
  int bits = 8 * static_cast<int>(DTypeSize(dtype)) - (IsSigned(dtype) ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
}

// Of a float dtype, the largest whole number up to `limit` that the dtype holds, so that no draw
// rounds beyond it.
int64_t LargestHeld(DType dtype, int64_t limit) {
  if (!IsFloat(dtype)) return limit;
  int64_t step = 1;
  while (std::abs(limit / step) > LargestInteger(dtype)) step *= 2;
  int64_t held = limit / step * step;
  return held > limit ? held - step : held;
}

// Whole numbers of [low, high], both included. The remainder of twice as many bits as the range
// needs leaves a bias that no sample can show; 64 bits are drawn beyond a range of 2^16.
Value Integers(Call& c, int64_t low, int64_t high) {
  uint64_t range =
      static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;  // 0 stands for 2^64
  bool wide = range == 0 || range > (uint64_t{1} << 16);
  Value bits = RandomBits(c, wide ? DType::kU64 : DType::kU32, c.out().dims);
  if (range != 0) {
    Value divisor = constant(c.builder(), static_cast<int64_t>(range), {DType::kS64, {}});
    bits = remainder(bits, broadcast_to(convert(divisor, bits.dtype()), bits.dims()));
  }
  Value offset = bitcast_convert(convert(bits, DType::kU64), DType::kS64);
  return offset + constant(c.builder(), low, offset.type());
}

Value Random(Call& c) { return Integers(c, 0, LargestInteger(c.out().dtype)); }  // random(self)

Value RandomTo(Call& c) {  // random(self, to)
  return Integers(c, 0, LargestHeld(c.out().dtype, c.integer(1) - 1));
}

Value RandomFrom(Call& c) {  // random(self, from, to)
  DType dtype = c.out().dtype;
  int64_t last = c.has(2) ? c.integer(2) - 1 : LargestInteger(dtype);
  return Integers(c, c.integer(1), LargestHeld(dtype, last));
}

LOWER("aten::random", Random, {.random = true});
LOWER("aten::random_", Random, {.random = true});
LOWER("aten::random.to", RandomTo, {.random = true});
LOWER("aten::random_.to", RandomTo, {.random = true});
LOWER("aten::random.from", RandomFrom, {.random = true});
LOWER("aten::random_.from", RandomFrom, {.random = true});

// randperm(n): whole numbers sorted by random keys of 64 bits, where ties are out of reach.
Value RandPerm(Call& c) {
  const Dims& dims = c.out().dims;
  Value operands[] = {RandomBits(c, DType::kU64, dims),
                      iota(c.builder(), 0, {IndexDType(dims[0]), dims})};
  return sort(operands, 0, [](auto v) { return v[0] < v[1]; })[1];
}

LOWER("aten::randperm", RandPerm, {.random = true});

// --- categories
// ------------------------------------------------------------------------------------

Dims WithLast(Dims dims, int64_t last) {
  dims.back() = last;
  return dims;
}

// Draws with replacement by inverting the distribution function: the first category whose cumulated
// weight exceeds a uniform draw. A category of weight 0 is never taken, whatever the rounding of
// the sums.
Value WithReplacement(Call& c, Value weights, int64_t samples) {
  int64_t last = weights.rank() - 1, categories = weights.dim(-1);
  Value cumulated = CumSum(weights, last);
  Value total = slice_dim(cumulated, last, categories - 1, categories);
  Dims drawn = WithLast(weights.dims(), samples);
  Value level = UniformUnit(c, weights.dtype(), drawn) * broadcast_to(total, drawn);

  Dims pairs = drawn;  // [..., samples, categories]
  pairs.push_back(categories);
  auto along = [&](Value v) { return broadcast_to(unsqueeze(v, last), pairs); };
  Value taken =
      (along(cumulated) > broadcast_to(unsqueeze(level, -1), pairs)) & (along(weights) > 0.0);
  Value index = index_like(taken, last + 1, IndexDType(categories));
  Value first = reduce_min(where(taken, index, static_cast<double>(categories)), {last + 1});
  Value fallback = ArgExtreme(weights, last, Extreme::kMax).second;
  return where(first == static_cast<double>(categories),
               broadcast_to(convert(unsqueeze(fallback, -1), first.dtype()), drawn), first);
}

// Draws without replacement: the first of a race in which category i arrives after an exponential
// time of rate weight i.
Value WithoutReplacement(Call& c, Value weights, int64_t samples) {
  int64_t last = weights.rank() - 1;
  Value speed = weights / StandardExponential(c, weights.dtype(), weights.dims());
  if (samples == 1) return unsqueeze(ArgExtreme(speed, last, Extreme::kMax).second, -1);
  Value operands[] = {speed, index_like(speed, last, IndexDType(weights.dim(-1)))};
  Value order = sort(operands, last, [](auto v) { return v[0] > v[1]; })[1];
  return slice_dim(order, last, 0, samples);
}

Value Multinomial(Call& c) {  // multinomial(self, num_samples, replacement)
  Value weights = shlo::opmath(c.tensor(0));
  Value valid = (weights >= 0.0) & is_finite(weights);
  c.check(reduce_all(valid, AllDims(valid)),
          "probability tensor contains either `inf`, `nan` or element < 0");
  int64_t samples = c.integer(1);
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  bool replacement = c.boolean(2) && samples > 1;
  return replacement ? WithReplacement(c, weights, samples)
                     : WithoutReplacement(c, weights, samples);
}

LOWER("aten::multinomial", Multinomial, {.random = true});

}  // namespace
}  // namespace torch_tpu::ops
