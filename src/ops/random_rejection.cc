// Random draws that take as many tries as they take: Poisson, binomial, gamma and Dirichlet.
//
// All elements draw in one loop, with the generator's state carried along, until the last one has
// accepted. Small means are inverted instead: a walk along the distribution function from one
// uniform number.
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "ops/random.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

// Uniform numbers of (0, 1) from a state that moves on.
struct Stream {
  Value state;

  Value Uniform(DType dtype, const Dims& dims) {
    const bool wide = dtype == DType::kF64;
    const int bits = wide ? 53 : 24, width = wide ? 64 : 32;
    auto [next, random] = rng_bit_generator(state, {wide ? DType::kU64 : DType::kU32, dims});
    state = next;
    Value top = shift_right_logical(random, full_like(random, width - bits + 1));
    return (convert(top, dtype) * 2.0 + 1.0) * std::ldexp(1.0, -bits);
  }
  Value Normal(DType dtype, const Dims& dims) {
    return erf_inv(Uniform(dtype, dims) * 2.0 - 1.0) * std::numbers::sqrt2;
  }
};

struct Try {
  Value candidate, accepted;
};

// Tries until every element of `wanted` has accepted a candidate; `result` stays where none is
// wanted.
Value Reject(Stream* stream, Value wanted, Value result,
             const std::function<Try(Stream*)>& attempt) {
  const Value init[] = {stream->state, wanted, result};
  auto end = while_(
      init, [&](std::span<const Value> v) { return shlo::reduce_any(v[1], AllDims(v[1])); },
      [&](std::span<const Value> v) -> Results {
        Stream inner{v[0]};
        const Try t = attempt(&inner);
        Value taken = v[1] & t.accepted;
        return {inner.state, v[1] & !t.accepted, select(taken, t.candidate, v[2])};
      });
  stream->state = end[0];
  return end[2];
}

// The smallest k whose distribution function reaches u, walking from k = 0 with probability
// `first`; `ratio(k)` is the probability of k + 1 over that of k. Stops where the rest is lost to
// rounding.
Value Walk(Value u, Value wanted, Value first, const std::function<Value(Value)>& ratio) {
  const double negligible = u.dtype() == DType::kF64 ? 1e-18 : 1e-9;
  Value zero = full_like(u, 0);
  const Value init[] = {wanted & (u > first), zero, first, first};
  return while_(
      init, [&](std::span<const Value> v) { return shlo::reduce_any(v[0], AllDims(v[0])); },
      [&](std::span<const Value> v) -> Results {
        Value r = ratio(v[1]), p = v[2] * r, sum = v[3] + p;
        Value k = where(v[0], v[1] + 1.0, v[1]);
        Value lost = (r < 1.0) & (p < negligible);
        return {v[0] & (u > sum) & !lost, k, p, sum};
      })[1];
}

DType DrawDType(DType dtype) { return dtype == DType::kF64 ? dtype : DType::kF32; }

// --- Poisson and binomial ------------------------------------------------------------------------

// log(k!) - (k + 1/2) log(k + 1) + (k + 1) - log(2 pi) / 2: what Stirling's formula leaves.
Value StirlingRest(Value k) {
  Value n = k + 1.0, square = n * n;
  Value series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / n;
  Value few = min(n, full_like(n, 10.0));
  Value exact = lgamma(few) - (few - 0.5) * log(few) + few - 0.5 * std::log(2 * std::numbers::pi);
  return where(k < 9.0, exact, series);
}

// log of the Poisson probability of k, without the cancellation of large terms.
Value LogPoisson(Value k, Value rate, Value log_rate) {
  Value n = max(k, full_like(k, 1.0)), x = (rate - n) / n;
  Value large = n * (log_plus_one(x) - x) - log(n * (2 * std::numbers::pi)) * 0.5 -
                (1.0 / 12 - 1.0 / 360 / (n * n)) / n;
  Value small = k * log_rate - rate - lgamma(min(k, full_like(k, 10.0)) + 1.0);
  return where(k < 10.0, small, large);
}

// Hoermann's transformed rejection (PTRS) for rates of 10 and more.
Try TryPoisson(Stream* stream, Value rate) {
  Value u = stream->Uniform(rate.dtype(), rate.dims()) - 0.5;
  Value v = stream->Uniform(rate.dtype(), rate.dims());
  Value b = sqrt(rate) * 2.53 + 0.931, a = b * 0.02483 - 0.059;
  Value distance = 0.5 - abs(u);
  Value k = floor((a * 2.0 / distance + b) * u + rate + 0.43);
  Value quick = (distance >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2.0));
  Value refused = (k < 0.0) | ((distance < 0.013) & (v > distance));
  Value height = log(v * (1.1328 / (b - 3.4) + 1.1239) / (a / (distance * distance) + b));
  Value below = height <= LogPoisson(k, rate, log(rate));
  return {k, quick | (below & !refused)};
}

Value Poisson(Call& c) {  // poisson(self)
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  Value rate = convert(c.tensor(0), DrawDType(c.out().dtype));
  c.check(shlo::reduce_all(rate >= 0.0, AllDims(rate)),
          "invalid Poisson rate, expected rate to be non-negative");
  Stream stream{c.rng_state()};
  Value u = stream.Uniform(rate.dtype(), rate.dims());
  Value large = (rate >= 10.0) & is_finite(rate);
  Value small_rate = where(rate < 10.0, rate, 1.0);
  Value k = Walk(u, rate < 10.0, exponential(-small_rate),
                 [&](Value n) { return small_rate / (n + 1.0); });
  Value large_rate = where(large, rate, 10.0);
  return Reject(&stream, large, k, [&](Stream* s) { return TryPoisson(s, large_rate); });
}

// Hoermann's BTRS for n trials of probability p <= 1/2, where n p >= 10.
Try TryBinomial(Stream* stream, Value n, Value p) {
  Value u = stream->Uniform(n.dtype(), n.dims()) - 0.5;
  Value v = stream->Uniform(n.dtype(), n.dims());
  Value spread = sqrt(n * p * (1.0 - p)), odds = p / (1.0 - p);
  Value b = spread * 2.53 + 1.15, a = b * 0.0248 + p * 0.01 - 0.0873;
  Value mode = floor((n + 1.0) * p), distance = 0.5 - abs(u);
  Value k = floor((a * 2.0 / distance + b) * u + n * p + 0.5);
  Value quick = (distance >= 0.07) & (v <= 0.92 - 4.2 / b);
  Value inside = (k >= 0.0) & (k <= n);
  Value j = clamp(full_like(k, 0), k, n);
  Value height = log(v * (5.1 / b + 2.83) * spread / (a / (distance * distance) + b));
  Value limit = (mode + 0.5) * log((mode + 1.0) / (odds * (n - mode + 1.0))) +
                (n + 1.0) * log((n - mode + 1.0) / (n - j + 1.0)) +
                (j + 0.5) * log(odds * (n - j + 1.0) / (j + 1.0)) + StirlingRest(mode) +
                StirlingRest(n - mode) - StirlingRest(j) - StirlingRest(n - j);
  return {k, inside & (quick | (height <= limit))};
}

Value Binomial(Call& c) {  // binomial(count, prob)
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  const DType dtype = DrawDType(c.out().dtype);
  const auto read = [&](int i) {
    return shlo::broadcast_to(convert(c.tensor(i), dtype), c.out().dims);
  };
  Value n = floor(read(0)), p = read(1);
  Value valid = (n >= 0.0) & (p >= 0.0) & (p <= 1.0) & is_finite(n);
  Value flipped = p > 0.5, q = where(flipped, 1.0 - p, p);
  Value large = valid & (n * q >= 10.0), small = valid & !large;
  Stream stream{c.rng_state()};
  Value u = stream.Uniform(dtype, n.dims());
  Value few_n = where(small, n, 1.0), few_q = where(small, q, 0.5);
  Value k = Walk(u, small, exponential(few_n * log_plus_one(-few_q)),
                 [&](Value i) { return (few_n - i) / (i + 1.0) * (few_q / (1.0 - few_q)); });
  Value many_n = where(large, n, 100.0), many_q = where(large, q, 0.5);
  k = Reject(&stream, large, k, [&](Stream* s) { return TryBinomial(s, many_n, many_q); });
  k = where(flipped, n - k, k);
  return where(valid, k, where(is_nan(n) | is_nan(p), n + p, 0.0));
}

std::vector<TensorType> BinomialShape(const Call& c) {
  const Dims dims[] = {c.tensor(0).dims(), c.tensor(1).dims()};
  const DType dtype = c.tensor(0).dtype();
  if (!IsFloat(dtype) || IsReducedFloat(dtype) || c.tensor(1).dtype() != dtype)
    throw shlo::BuildError("binomial: expected count and prob of one dtype, float32 or float64");
  return {{dtype, shlo::broadcast_dims(dims)}};
}

LOWER("aten::poisson", Poisson, {.random = true});
LOWER("aten::binomial", Binomial, {.random = true, .shape = BinomialShape});

// --- gamma and Dirichlet -------------------------------------------------------------------------

// Standard gamma numbers of shape `alpha` (Marsaglia and Tsang); shapes below 1 are drawn one
// higher and scaled by a power of a uniform number. NaN for NaN, 0 for 0.
Value StandardGamma(Stream* stream, Value alpha) {
  const DType dtype = alpha.dtype();
  Value low = alpha < 1.0;
  Value wanted = (alpha > 0.0) & is_finite(alpha);
  Value shape = where(wanted, where(low, alpha + 1.0, alpha), 1.0);
  Value d = shape - 1.0 / 3, slope = 1.0 / (sqrt(d) * 3.0);
  Value boost = stream->Uniform(dtype, alpha.dims());
  Value drawn = Reject(stream, wanted, alpha, [&](Stream* s) {
    Value x = s->Normal(dtype, alpha.dims()), u = s->Uniform(dtype, alpha.dims());
    Value root = x * slope + 1.0, v = root * root * root;
    Value log_v = log(where(root > 0.0, v, 1.0));
    Value below = log(u) < x * x * 0.5 + d * (1.0 - v + log_v);
    return Try{d * v, (root > 0.0) & below};
  });
  return where(low & wanted, drawn * power(boost, 1.0 / where(wanted, alpha, 1.0)), drawn);
}

double SmallestNormal(DType dtype) {
  if (dtype == DType::kF64) return std::numeric_limits<double>::min();
  return dtype == DType::kF16 ? 0x1p-14 : static_cast<double>(std::numeric_limits<float>::min());
}

Value AtLeastNormal(Value x, DType dtype) {
  return where(x < SmallestNormal(dtype), SmallestNormal(dtype), x);
}

Value GammaSample(Call& c) {  // _standard_gamma(self)
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  Value alpha = convert(c.tensor(0), DrawDType(c.out().dtype));
  Stream stream{c.rng_state()};
  Value drawn = StandardGamma(&stream, alpha);
  return where(alpha == 0.0, 0.0, AtLeastNormal(drawn, c.out().dtype));
}

// _sample_dirichlet(self): in float64, where small shapes do not all vanish.
Value DirichletSample(Call& c) {
  if (NumElements(c.out().dims) == 0) return constant(c.builder(), 0, c.out());
  Value alpha = convert(c.tensor(0), DType::kF64);
  Stream stream{c.rng_state()};
  Value drawn = AtLeastNormal(StandardGamma(&stream, alpha), DType::kF64);
  Value total = shlo::reduce_sum(drawn, {alpha.rank() - 1}, true);
  Value share = AtLeastNormal(drawn / shlo::broadcast_to(total, alpha.dims()), c.out().dtype);
  const double below_one = c.out().dtype == DType::kF64 ? 1 - 0x1p-53 : 1 - 0x1p-24;
  return where(share > below_one, below_one, share);
}

std::vector<TensorType> LikeFirst(const Call& c) { return {c.tensor(0).type()}; }

LOWER("aten::_standard_gamma", GammaSample, {.random = true});
LOWER("aten::_sample_dirichlet", DirichletSample, {.random = true, .shape = LikeFirst});

}  // namespace
}  // namespace torch_tpu::ops
