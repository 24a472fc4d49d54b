// A reference interpreter of plans over bytes in memory, and the direct strided access that plans
// are compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

#include "views/view.h"

namespace torch_tpu::views::testing {

// A dense row-major array. Complex elements are (real, imag), so that splitting is a reshape.
struct Array {
  DType dtype = DType::kInvalid;
  Dims dims;
  std::vector<uint8_t> bytes;

  Array() = default;
  Array(DType d, Dims n) : dtype(d), dims(std::move(n)) {
    bytes.resize(NumElements(dims) * DTypeSize(dtype));
  }
  bool operator==(const Array&) const = default;
};

// Calls `visit` with the index tuple of every element of `dims`, in row-major order.
inline void ForEachIndex(const Dims& dims, const std::function<void(const Dims&)>& visit) {
  if (NumElements(dims) == 0) return;
  Dims index(dims.size(), 0);
  while (true) {
    visit(index);
    size_t i = dims.size();
    while (i > 0 && ++index[i - 1] == dims[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

inline int64_t Position(const Dims& index, const Dims& strides) {
  int64_t position = 0;
  for (size_t i = 0; i < index.size(); ++i) position += index[i] * strides[i];
  return position;
}

// Same bytes as another dtype and shape; i1 holds 0 or 1.
inline Array Reinterpret(const Array& from, DType dtype, const Dims& dims) {
  Array to(dtype, dims);
  if (to.bytes.size() != from.bytes.size()) throw std::logic_error("reinterpret: sizes differ");
  to.bytes = from.bytes;
  if (dtype == DType::kPred) {
    for (uint8_t& byte : to.bytes) byte = byte != 0;
  }
  return to;
}

// The operand position of each element of a step's result, row-major; -1 for padding.
inline std::vector<int64_t> Sources(const Step& step, const Dims& from,
                                    const std::vector<int64_t>& starts) {
  const Dims strides = ContiguousStrides(from);
  std::vector<int64_t> sources;
  if (step.kind == Step::kTranspose) {
    Dims sorted = step.args;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < from.size(); ++i) {
      if (sorted.at(i) != static_cast<int64_t>(i)) throw std::logic_error("no permutation");
    }
  }
  ForEachIndex(step.dims, [&](const Dims& index) {
    int64_t source = 0;
    switch (step.kind) {
      case Step::kDynamicSlice:
        for (size_t i = 0; i < index.size(); ++i) {
          const int64_t start = step.args[i] < 0 ? 0 : starts.at(step.args[i]);
          if (start < 0 || start + step.dims[i] > from[i]) throw std::logic_error("start clamps");
          source += (start + index[i]) * strides[i];
        }
        break;
      case Step::kSlice:
        for (size_t i = 0; i < index.size(); ++i) {
          if (index[i] * step.args[i] >= from[i]) throw std::logic_error("slice outside");
          source += index[i] * step.args[i] * strides[i];
        }
        break;
      case Step::kPad:
        for (size_t i = 0; i < index.size(); ++i) {
          if (index[i] >= from[i]) source = -1;
        }
        if (source == 0) source = Position(index, strides);
        break;
      case Step::kTranspose:
        for (size_t i = 0; i < index.size(); ++i) source += index[i] * strides[step.args[i]];
        break;
      case Step::kBroadcast:
        for (size_t i = 0; i < from.size(); ++i) {
          if (from[i] != 1 && from[i] != step.dims[step.args[i]]) throw std::logic_error("expand");
          source += (from[i] == 1 ? 0 : index[step.args[i]]) * strides[i];
        }
        break;
      case Step::kGather:
        source = starts.at(0) + Position(index, step.args);
        if (source < 0 || source >= NumElements(from)) throw std::logic_error("gather clamps");
        break;
      default:
        throw std::logic_error("not a movement of elements");
    }
    sources.push_back(source);
  });
  return sources;
}

inline bool KeepsBytes(const Step& step) {
  return step.kind == Step::kBitcast || step.kind == Step::kSplitComplex ||
         step.kind == Step::kJoinComplex || step.kind == Step::kReshape;
}

inline Array ReadStep(const Step& step, const Array& from, const std::vector<int64_t>& starts) {
  if (KeepsBytes(step)) return Reinterpret(from, step.dtype, step.dims);
  Array to(step.dtype, step.dims);
  const int64_t size = DTypeSize(step.dtype);
  uint8_t* out = to.bytes.data();
  for (int64_t source : Sources(step, from.dims, starts)) {
    if (source >= 0) std::memcpy(out, &from.bytes[source * size], size);
    out += size;
  }
  return to;
}

// `from` after the step's result became `update`.
inline Array WriteStep(const Step& step, Array from, const Array& update,
                       const std::vector<int64_t>& starts) {
  if (KeepsBytes(step)) return Reinterpret(update, from.dtype, from.dims);
  const int64_t size = DTypeSize(step.dtype);
  const uint8_t* in = update.bytes.data();
  for (int64_t source : Sources(step, from.dims, starts)) {
    if (source >= 0) std::memcpy(&from.bytes[source * size], in, size);
    in += size;
  }
  return from;
}

inline Array Read(const Plan& plan, Array value) {
  for (const Step& step : plan.steps) value = ReadStep(step, value, plan.starts);
  return value;
}

inline Array Write(const Plan& plan, const Array& base, Array update) {
  std::vector<Array> before = {base};
  for (const Step& step : plan.steps) {
    before.push_back(ReadStep(step, before.back(), plan.starts));
  }
  for (size_t i = plan.steps.size(); i-- > 0;) {
    update = WriteStep(plan.steps[i], before[i], update, plan.starts);
  }
  return update;
}

// What a strided tensor over the bytes of `base` holds.
inline Array DirectRead(const Array& base, const View& view) {
  Array out(view.dtype, view.sizes);
  const int64_t size = DTypeSize(view.dtype);
  uint8_t* next = out.bytes.data();
  ForEachIndex(view.sizes, [&](const Dims& index) {
    std::memcpy(next, &base.bytes.at((view.offset + Position(index, view.strides)) * size), size);
    next += size;
  });
  return Reinterpret(out, view.dtype, view.sizes);
}

inline Array DirectWrite(Array base, const View& view, const Array& update) {
  const int64_t size = DTypeSize(view.dtype);
  const uint8_t* next = update.bytes.data();
  ForEachIndex(view.sizes, [&](const Dims& index) {
    std::memcpy(&base.bytes.at((view.offset + Position(index, view.strides)) * size), next, size);
    next += size;
  });
  return Reinterpret(base, base.dtype, base.dims);
}

}  // namespace torch_tpu::views::testing
