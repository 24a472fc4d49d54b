// Scans: cumsum, cumprod, cummax, cummin, logcumsumexp.
#include <limits>
#include <numbers>

#include "ops/index_util.h"
#include "ops/reduce_util.h"
#include "ops/scan_util.h"

namespace torch_tpu::ops {

Value Scan(Value x, Value init, int64_t dim, const shlo::Combine& combine) {
  if (NumElements(x.dims()) == 0) return x;
  const Dims ones(x.rank(), 1), zeros(x.rank(), 0);
  shlo::Window window{ones, ones, ones, ones, zeros, zeros};
  window.dimensions[dim] = x.dim(dim);
  window.padding_low[dim] = x.dim(dim) - 1;
  return reduce_window(x, init, window, combine);
}

Value CumSum(Value x, int64_t dim) {
  return Scan(x, shlo::scalar(x.builder(), int64_t{0}, x.dtype()), dim,
              [](Value a, Value b) { return a + b; });
}

namespace {

struct Line {
  Value x;
  int64_t dim;
};

// Arguments (self, dim, ...) with self in the dtype that the result accumulates in.
Line Input(const Call& c) {
  Value x = AtLeast1d(convert(c.tensor(0), shlo::opmath_dtype(c.out().dtype)));
  return {x, shlo::wrap_dim(c.integer(1), x.rank())};
}

// cumsum(self, dim, dtype)
Value CumulativeSum(Call& c) {
  auto [x, dim] = Input(c);
  return ToOut(c, CumSum(x, dim));
}

Value CumulativeProduct(Call& c) {
  auto [x, dim] = Input(c);
  Value one = shlo::scalar(c.builder(), int64_t{1}, x.dtype());
  return ToOut(c, Scan(x, one, dim, [](Value a, Value b) { return a * b; }));
}

// log(exp(a) + exp(b)). Shifted by the larger: both infinite must not give inf - inf.
Value LogAddExp(Value a, Value b) {
  if (IsComplex(a.dtype())) {
    Value top = max(real(a), real(b));
    Value shift = convert(where(is_finite(top), top, 0.0), a.dtype());
    return log(exponential(a - shift) + exponential(b - shift)) + shift;
  }
  Value top = max(a, b);
  Value sum = top + log_plus_one(exponential(-abs(a - b)));
  return select(a == b, top + 0.69314718055994530942, sum);
}

// v one place later along `dim`; `first` is before it.
Value Shifted(Value v, int64_t dim, double first) {
  const Value parts[] = {full_like(shlo::slice_dim(v, dim, 0, 1), first),
                         shlo::slice_dim(v, dim, 0, v.dim(dim) - 1)};
  return concatenate(parts, dim);
}

// The running sums `sum` of x with the phases that PyTorch gives them. It adds one element after
// the other, and the phase of a sum is next to that of its larger part: of the element, from which
// turns count anew, or of the sum before.
Value CarryPhase(Value x, Value sum, int64_t dim) {
  constexpr double kTurn = 2 * std::numbers::pi;
  const auto turns = [](Value v) {
    return round_nearest_even(where(is_finite(v), v / kTurn, 0.0));
  };
  Value phase = imag(sum);
  Value anew = real(x) >= Shifted(real(sum), dim, -std::numeric_limits<double>::infinity());
  const DType index_dtype = IndexDType(x.dim(dim));
  Value start = Scan(where(anew, index_like(x, dim, index_dtype), 0.0),
                     shlo::min_value(x.builder(), index_dtype), dim,
                     [](Value a, Value b) { return max(a, b); });
  Value since_first = CumSum(turns(Shifted(phase, dim, 0.0) - phase), dim);
  Value at_start = turns(imag(x) - phase) - since_first;
  Value count = since_first + GatherAlong(at_start, dim, start);
  return complex(real(sum), phase + count * kTurn);
}

// _logcumsumexp(self, dim)
Value LogCumSumExp(Call& c) {
  auto [x, dim] = Input(c);
  Value init = shlo::scalar(c.builder(), -std::numeric_limits<double>::infinity(), x.dtype());
  Value sum = Scan(x, init, dim, LogAddExp);
  const bool has_phase = IsComplex(x.dtype()) && NumElements(x.dims()) > 0;
  return ToOut(c, has_phase ? CarryPhase(x, sum, dim) : sum);
}

// cummax(self, dim) -> (values, indices) with the dim at argument `at`. Among equal elements the
// last one's index; a NaN stays.
Results CumulativeExtreme(Call& c, Extreme extreme, int at = 1) {
  Value x = AtLeast1d(c.tensor(0));
  const int64_t dim = shlo::wrap_dim(c.integer(at), x.rank());
  const bool is_max = extreme == Extreme::kMax;
  Value best = Scan(x, LeastExtreme(c.builder(), x.dtype(), extreme), dim,
                    [&](Value a, Value b) { return is_max ? max(a, b) : min(a, b); });
  // The elements that are extreme so far; the last of them up to each position is the index.
  Value record = (x == best) | (is_nan(x) & is_nan(best));
  const DType index_dtype = IndexDType(x.dim(dim));
  Value position = where(record, index_like(x, dim, index_dtype), -1.0);
  Value index = Scan(position, shlo::min_value(c.builder(), index_dtype), dim,
                     [](Value a, Value b) { return max(a, b); });
  return {ToOut(c, best, 0), ToOut(c, index, 1)};
}

Results CumMax(Call& c) { return CumulativeExtreme(c, Extreme::kMax); }
Results CumMin(Call& c) { return CumulativeExtreme(c, Extreme::kMin); }

// _cummax_helper(self, values, indices, dim), which writes the two in the middle.
Results CumMaxHelper(Call& c) { return CumulativeExtreme(c, Extreme::kMax, 3); }
Results CumMinHelper(Call& c) { return CumulativeExtreme(c, Extreme::kMin, 3); }

std::vector<TensorType> LikeInput(const Call& c) { return {c.tensor(0).type()}; }

LOWER("aten::cumsum", CumulativeSum);
LOWER("aten::cumprod", CumulativeProduct);
LOWER("aten::cummax", CumMax);
LOWER("aten::cummin", CumMin);
LOWER("aten::_cummax_helper", CumMaxHelper);
LOWER("aten::_cummin_helper", CumMinHelper);
LOWER("aten::logcumsumexp", LogCumSumExp);
LOWER("aten::_logcumsumexp", LogCumSumExp, {.shape = LikeInput});

}  // namespace
}  // namespace torch_tpu::ops
