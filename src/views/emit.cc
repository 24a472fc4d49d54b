// Emits the steps of a plan, forward for a read and backward for a write.
#include <limits>

#include "shlo/sugar.h"
#include "views/view.h"

namespace torch_tpu::views {
namespace {

using shlo::Builder;
using shlo::TensorType;
using shlo::Value;

Value Zero(Builder& b, DType dtype) { return shlo::scalar(b, int64_t{0}, dtype); }

// XLA's simplifier joins two neighbouring bitcast_converts even when both change the width, and
// then rejects the shapes that it made; the barrier keeps such neighbours (of two views in one
// program) apart.
Value BitcastBits(Value v, DType to) {
  if (DTypeSize(v.dtype()) != DTypeSize(to)) v = shlo::optimization_barrier(v);
  return shlo::bitcast_convert(v, to);
}

Value Bitcast(Value v, DType to) {
  // i1 has no bit pattern in StableHLO: as bytes it is 0 or 1, and any other byte than 0 is true.
  if (v.dtype() == DType::kPred) v = shlo::convert(v, DType::kU8);
  if (v.dtype() == to) return v;
  if (to != DType::kPred) return BitcastBits(v, to);
  if (v.dtype() != DType::kU8) v = BitcastBits(v, DType::kU8);
  return shlo::compare(v, shlo::full_like(v, 0), shlo::Direction::kNe);
}

Value SplitComplex(Value v) {
  const Value re = shlo::unsqueeze(shlo::real(v), -1);
  const Value im = shlo::unsqueeze(shlo::imag(v), -1);
  const Value parts[] = {re, im};
  return shlo::concatenate(parts, v.rank());
}

Value JoinComplex(Value v) {
  const int64_t last = v.rank() - 1;
  const Value re = shlo::squeeze(shlo::slice_dim(v, last, 0, 1), last);
  const Value im = shlo::squeeze(shlo::slice_dim(v, last, 1, 2), last);
  return shlo::complex(re, im);
}

Dims LastPositions(const Dims& counts, const Dims& strides) {
  Dims limits;
  for (size_t i = 0; i < counts.size(); ++i) limits.push_back((counts[i] - 1) * strides[i] + 1);
  return limits;
}

bool AllOnes(const Dims& dims) { return NumElements(dims) == 1; }

// A gather's indices. One dim of stride 1 is read as a window of the flat operand: fewer indices,
// and on a TPU a copy of rows instead of elements.
struct GatherIndices {
  Value indices;
  int64_t window_dim = -1;  // of the result
  int64_t window_size = 1;
};

class Emitter {
 public:
  Emitter(const Plan& plan, Value base, std::span<const Value> starts)
      : plan_(plan), b_(base.builder()), starts_(starts) {
    if (base.type() != plan.base) {
      throw shlo::BuildError("view: expected a base of " + plan.base.ToString() + ", got " +
                             base.type().ToString());
    }
    if (!starts.empty() && (!plan.dynamic || starts.size() != plan.starts.size())) {
      throw shlo::BuildError("view: expected " +
                             std::to_string(plan.dynamic ? plan.starts.size() : 0) +
                             " start operands, got " + std::to_string(starts.size()));
    }
  }

  Value Forward(const Step& step, Value v) const {
    switch (step.kind) {
      case Step::kBitcast:
        return Bitcast(v, step.dtype);
      case Step::kSplitComplex:
        return SplitComplex(v);
      case Step::kJoinComplex:
        return JoinComplex(v);
      case Step::kReshape:
        return shlo::reshape(v, step.dims);
      case Step::kDynamicSlice:
        return Cut(step, v);
      case Step::kSlice:
        return shlo::slice(v, Dims(v.rank(), 0), SliceLimits(step), step.args);
      case Step::kPad:
        return PadEnd(v, step.dims);
      case Step::kTranspose:
        return shlo::transpose(v, step.args);
      case Step::kBroadcast:
        return shlo::broadcast_in_dim(v, step.dims, step.args);
      case Step::kGather:
        return Gather(step, v);
    }
    throw shlo::BuildError("view: unknown step");
  }

  // The value before `step` after its result became `update`. `before` is the value before the
  // write for partial steps; others only need its type.
  Value Backward(const Step& step, const TensorType& type, Value before, Value update) const {
    switch (step.kind) {
      case Step::kBitcast:
        return Bitcast(update, type.dtype);
      case Step::kSplitComplex:
        return JoinComplex(update);
      case Step::kJoinComplex:
        return SplitComplex(update);
      case Step::kReshape:
        return shlo::reshape(update, type.dims);
      case Step::kDynamicSlice:
        return shlo::dynamic_update_slice(before, update, CutStarts(step));
      case Step::kSlice:
        if (AllOnes(step.args)) {
          const std::vector<Value> zeros(type.dims.size(), Zero(b_, DType::kS32));
          return shlo::dynamic_update_slice(before, update, zeros);
        }
        return Interleave(step, before, update);
      case Step::kPad:
        return shlo::slice(update, Dims(type.dims.size(), 0), type.dims, Dims(type.dims.size(), 1));
      case Step::kTranspose: {
        Dims inverse(step.args.size());
        for (size_t i = 0; i < inverse.size(); ++i) inverse[step.args[i]] = i;
        return shlo::transpose(update, inverse);
      }
      case Step::kBroadcast:
        throw shlo::BuildError("view: sizes " + DimsToString(plan_.view.sizes) + " with strides " +
                               DimsToString(plan_.view.strides) +
                               " reach an element more than once; clone the tensor before writing "
                               "to it");
      case Step::kGather:
        return Scatter(step, before, update);
    }
    throw shlo::BuildError("view: unknown step");
  }

  static bool IsPartial(const Step& step) {
    return step.kind == Step::kDynamicSlice || step.kind == Step::kSlice ||
           step.kind == Step::kGather;
  }

 private:
  static Dims SliceLimits(const Step& step) {
    if (NumElements(step.dims) == 0) return step.dims;
    return LastPositions(step.dims, step.args);
  }

  Value PadEnd(Value v, const Dims& dims) const {
    const Dims zeros(dims.size(), 0);
    Dims high;
    for (size_t i = 0; i < dims.size(); ++i) high.push_back(dims[i] - v.dims()[i]);
    return shlo::pad(v, Zero(b_, v.dtype()), zeros, high, zeros);
  }

  Value Start(int64_t number, DType dtype) const {
    if (number < 0) return Zero(b_, dtype);
    return starts_.empty() ? shlo::scalar(b_, plan_.starts[number], dtype) : starts_[number];
  }

  std::vector<Value> CutStarts(const Step& step) const {
    const DType dtype = starts_.empty() ? DType::kS64 : starts_[0].dtype();
    std::vector<Value> starts;
    for (int64_t number : step.args) starts.push_back(Start(number, dtype));
    return starts;
  }

  Value Cut(const Step& step, Value v) const {
    if (!starts_.empty()) return shlo::dynamic_slice(v, CutStarts(step), step.dims);
    Dims low;
    Dims limit;
    for (size_t i = 0; i < step.dims.size(); ++i) {
      low.push_back(step.args[i] < 0 ? 0 : plan_.starts[step.args[i]]);
      limit.push_back(low[i] + step.dims[i]);
    }
    return shlo::slice(v, low, limit, Dims(low.size(), 1));
  }

  // `update` at the strided positions, `before` elsewhere.
  Value Interleave(const Step& step, Value before, Value update) const {
    const Dims limits = LastPositions(step.dims, step.args);
    const Dims low(limits.size(), 0);
    Dims high;
    Dims interior;
    for (size_t i = 0; i < limits.size(); ++i) {
      high.push_back(before.dims()[i] - limits[i]);
      interior.push_back(step.args[i] - 1);
    }
    const Value here = shlo::constant(b_, 1, TensorType{DType::kPred, step.dims});
    const Value mask = shlo::pad(here, Zero(b_, DType::kPred), low, high, interior);
    const Value spread = shlo::pad(update, Zero(b_, update.dtype()), low, high, interior);
    return shlo::select(mask, spread, before);
  }

  GatherIndices Indices(const Step& step, int64_t flat_size) const {
    GatherIndices g;
    for (size_t i = 0; i < step.dims.size(); ++i) {
      if (step.args[i] == 1 && step.dims[i] > g.window_size) {
        g.window_dim = i;
        g.window_size = step.dims[i];
      }
    }
    const bool fits = flat_size <= std::numeric_limits<int32_t>::max();
    TensorType type{fits ? DType::kS32 : DType::kS64, {}};
    Dims strides;
    for (size_t i = 0; i < step.dims.size(); ++i) {
      if (static_cast<int64_t>(i) == g.window_dim) continue;
      type.dims.push_back(step.dims[i]);
      strides.push_back(step.args[i]);
    }
    const Value start =
        shlo::convert(Start(0, starts_.empty() ? type.dtype : starts_[0].dtype()), type.dtype);
    g.indices = shlo::broadcast_in_dim(start, type.dims, {});
    for (size_t i = 0; i < strides.size(); ++i) {
      const Value stride = shlo::constant(b_, strides[i], type);
      g.indices = shlo::add(g.indices, shlo::multiply(shlo::iota(b_, i, type), stride));
    }
    return g;
  }

  Value Gather(const Step& step, Value flat) const {
    const GatherIndices g = Indices(step, flat.dims()[0]);
    shlo::GatherDims dims;
    dims.start_index_map = {0};
    dims.index_vector_dim = g.indices.rank();
    if (g.window_dim >= 0) {
      dims.offset_dims = {g.window_dim};
    } else {
      dims.collapsed_slice_dims = {0};
    }
    return shlo::gather(flat, g.indices, dims, {g.window_size});
  }

  Value Scatter(const Step& step, Value flat, Value update) const {
    const GatherIndices g = Indices(step, flat.dims()[0]);
    shlo::ScatterDims dims;
    dims.scatter_dims_to_operand_dims = {0};
    dims.index_vector_dim = g.indices.rank();
    if (g.window_dim >= 0) {
      dims.update_window_dims = {g.window_dim};
    } else {
      dims.inserted_window_dims = {0};
    }
    return shlo::scatter(
        flat, g.indices, update, dims, [](Value, Value replacement) { return replacement; },
        /*indices_are_sorted=*/false, /*unique_indices=*/!plan_.overlapping);
  }

  const Plan& plan_;
  Builder& b_;
  std::span<const Value> starts_;
};

}  // namespace

Value EmitRead(const Plan& plan, Value base, std::span<const Value> starts) {
  const Emitter emitter(plan, base, starts);
  for (const Step& step : plan.steps) base = emitter.Forward(step, base);
  return base;
}

Value EmitWrite(const Plan& plan, Value base, Value update, std::span<const Value> starts) {
  const Emitter emitter(plan, base, starts);
  const TensorType want{plan.view.dtype, plan.view.sizes};
  if (update.type() != want) {
    throw shlo::BuildError("view: expected an update of " + want.ToString() + ", got " +
                           update.type().ToString());
  }
  if (NumElements(plan.view.sizes) == 0) return base;

  // Forward as far as the last step that needs what it does not overwrite.
  size_t num_before = plan.steps.size();
  while (num_before > 0 && !Emitter::IsPartial(plan.steps[num_before - 1])) --num_before;
  std::vector<Value> before = {base};
  for (size_t i = 0; i + 1 < num_before; ++i) {
    before.push_back(emitter.Forward(plan.steps[i], before.back()));
  }
  before.resize(plan.steps.size());
  for (size_t i = plan.steps.size(); i-- > 0;) {
    const TensorType type =
        i == 0 ? base.type() : TensorType{plan.steps[i - 1].dtype, plan.steps[i - 1].dims};
    update = emitter.Backward(plan.steps[i], type, before[i], update);
  }
  return update;
}

}  // namespace torch_tpu::views
