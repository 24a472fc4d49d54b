// The step between a lowering and the program that it belongs to.
#include "ops/lower.h"

#include <exception>

namespace torch_tpu::ops {
namespace {

bool Broadcasts(const Dims& from, const Dims& to) {
  if (from.size() > to.size()) return false;
  size_t offset = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != to[offset + i]) return false;
  }
  return true;
}

Value FitOutput(const Call& call, int k, Value v) {
  if (v.empty()) return v;
  const TensorType& expected = call.out(k);
  if (!Broadcasts(v.dims(), expected.dims)) {
    throw shlo::BuildError("output " + std::to_string(k) + " must be " + expected.ToString() +
                           ", the lowering gave " + v.type().ToString());
  }
  return shlo::broadcast_to(shlo::convert(v, expected.dtype), expected.dims);
}

Results RunAndFit(const LoweringEntry& entry, Call& call) {
  Results results = entry.fn != nullptr ? entry.fn(call) : Results{entry.value_fn(call)};
  if (static_cast<int>(results.size()) != call.num_outs()) {
    throw shlo::BuildError("the lowering gave " + std::to_string(results.size()) +
                           " outputs, expected " + std::to_string(call.num_outs()));
  }
  for (int k = 0; k < call.num_outs(); ++k) results[k] = FitOutput(call, k, results[k]);
  return results;
}

std::string WithName(const Call& call, std::string_view message) {
  if (message.starts_with(call.name())) return std::string(message);
  return call.name() + ": " + std::string(message);
}

}  // namespace

Result<Results> RunLowering(const LoweringEntry& entry, Call& call) {
  call.builder().SetLocation(call.name());
  if (!entry.options.precision) call.dot_precision = shlo::Precision::kHighest;
  try {
    Results results = RunAndFit(entry, call);
    call.builder().SetLocation("");
    return results;
  } catch (const shlo::BuildError& e) {
    return InvalidArgument(WithName(call, e.what()));
  } catch (const std::exception& e) {
    return Internal(WithName(call, e.what()));
  }
}

}  // namespace torch_tpu::ops
