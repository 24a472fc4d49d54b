// Gradient scaling for mixed precision.
#include "ops/pointwise.h"
#include "ops/reduce_util.h"

namespace torch_tpu::ops {
namespace {

// _amp_foreach_non_finite_check_and_unscale(self[], found_inf, inv_scale) -> self[], found_inf:
// found_inf becomes 1 where any gradient is not finite, else stays.
Results CheckAndUnscale(Call& c) {
  Value found = c.tensor(1), inv_scale = c.tensor(2);
  Value any;
  Results results;
  for (Value grad : c.tensors(0)) {
    Value x = shlo::opmath(grad);
    Value bad = reduce_any(!is_finite(x), AllDims(x));
    any = any ? any | bad : bad;
    results.push_back(x * broadcast_to(convert(reshape(inv_scale, {}), x.dtype()), x.dims()));
  }
  results.push_back(any ? where(any, 1.0, found) : found);
  return results;
}

LOWER("aten::_amp_foreach_non_finite_check_and_unscale", CheckAndUnscale);
LOWER("aten::_amp_foreach_non_finite_check_and_unscale_", CheckAndUnscale);

// _amp_update_scale(self, growth_tracker, found_inf, scale_growth_factor, scale_backoff_factor,
// growth_interval)
// -> self, growth_tracker: backs off after a non-finite gradient, grows after growth_interval steps
// without, but never to infinity.
Results UpdateScale(Call& c) {
  Value scale = c.tensor(0), tracker = c.tensor(1);
  Value found = broadcast_to(reshape(c.tensor(2), {}) != 0.0, scale.dims());
  Value steps = tracker + 1.0;
  Value due = steps == static_cast<double>(c.integer(5));
  Value grown = scale * convert(c.number(3), scale.dtype());
  grown = where(reshape(due, scale.dims()) & is_finite(grown), grown, scale);
  Value backed_off = scale * convert(c.number(4), scale.dtype());
  Value restart = due | reshape(found, tracker.dims());
  return {where(found, backed_off, grown), where(restart, 0.0, steps)};
}

LOWER("aten::_amp_update_scale", UpdateScale);
LOWER("aten::_amp_update_scale_", UpdateScale);

}  // namespace
}  // namespace torch_tpu::ops
