// Random bases and chains of PyTorch-like view operators over them.
#pragma once

#include <algorithm>
#include <optional>
#include <random>

#include "views/interpret_test_util.h"
#include "views/view.h"

namespace torch_tpu::views::testing {

class RandomViews {
 public:
  explicit RandomViews(uint32_t seed) : rng_(seed) {}

  int64_t Below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint32_t>(n)); }

  Base RandomBase() {
    static constexpr DType kDTypes[] = {DType::kF32, DType::kF32,  DType::kF32, DType::kS64,
                                        DType::kU8,  DType::kPred, DType::kC64, DType::kBF16};
    Base base{kDTypes[Below(std::size(kDTypes))], {}};
    for (int64_t rank = Below(5); rank > 0; --rank) {
      static constexpr int64_t kSizes[] = {1, 2, 3, 4, 4, 6, 8, 5};
      base.dims.push_back(kSizes[Below(std::size(kSizes))]);
    }
    if (Below(60) == 0) base.dims.push_back(0);
    return base;
  }

  Array RandomArray(DType dtype, const Dims& dims) {
    Array array(dtype, dims);
    for (uint8_t& byte : array.bytes) {
      byte = dtype == DType::kPred ? Below(2) : Below(4) == 0 ? 0 : Below(256);
    }
    return array;
  }

  // Starts as the whole base in the shape that the first tensor had (not always the base's own).
  View RandomView(const Base& base) {
    View view{base.dtype, base.dims, {}, 0};
    if (Below(3) == 0) std::shuffle(view.sizes.begin(), view.sizes.end(), rng_);
    if (Below(4) == 0) view.sizes = {NumElements(base.dims)};
    view.strides = ContiguousStrides(view.sizes);
    for (int64_t chain = Below(6); chain > 0; --chain) Step(base, &view);
    return view;
  }

 private:
  int64_t Dim(const View& v) { return Below(static_cast<int64_t>(v.sizes.size())); }

  static void Erase(View* v, int64_t d) {
    v->sizes.erase(v->sizes.begin() + d);
    v->strides.erase(v->strides.begin() + d);
  }

  static void Insert(View* v, int64_t d, int64_t size, int64_t stride) {
    v->sizes.insert(v->sizes.begin() + d, size);
    v->strides.insert(v->strides.begin() + d, stride);
  }

  void Step(const Base& base, View* v) {
    const int64_t op = Below(14);
    if (op == 0) return AsStrided(base, v);
    if (op == 1) return Insert(v, Below(v->sizes.size() + 1), 1, Below(9));
    if (v->sizes.empty()) return;
    const int64_t d = Dim(*v);
    const int64_t size = v->sizes[d];
    if (op <= 4) return Slice(v, d);
    if (op <= 6) {  // transpose
      const int64_t e = Dim(*v);
      std::swap(v->sizes[d], v->sizes[e]);
      return std::swap(v->strides[d], v->strides[e]);
    }
    if (op == 7 && size > 0) {  // select
      v->offset += Below(size) * v->strides[d];
      return Erase(v, d);
    }
    if (op == 8 && size == 1) {  // expand
      v->sizes[d] = 1 + Below(3);
      v->strides[d] = 0;
      return;
    }
    if (op == 9) return Diagonal(v, d);
    if (op == 10 && size > 0) {  // unfold
      const int64_t length = 1 + Below(size);
      const int64_t step = 1 + Below(3);
      v->sizes.push_back(length);
      v->strides.push_back(v->strides[d]);
      v->sizes[d] = (size - length) / step + 1;
      v->strides[d] *= step;
      return;
    }
    if (op == 11) return SplitDim(v, d);
    if (op == 12) return MergeDim(v, d);
    if (op == 13) return ChangeDType(v);
  }

  void Slice(View* v, int64_t d) {
    const int64_t size = v->sizes[d];
    const int64_t start = Below(size + 1);
    const int64_t stop = start + Below(size - start + 1);
    const int64_t step = Below(2) == 0 ? 1 : 1 + Below(3);
    if (start == stop && Below(4) != 0) return;
    v->offset += start * v->strides[d];
    v->sizes[d] = (stop - start + step - 1) / step;
    v->strides[d] *= step;
  }

  void Diagonal(View* v, int64_t d) {
    const int64_t e = Dim(*v);
    if (d == e || v->sizes[d] == 0 || v->sizes[e] == 0) return;
    const int64_t shift = Below(v->sizes[e]);
    const int64_t size = std::min(v->sizes[d], v->sizes[e] - shift);
    const int64_t stride = v->strides[d] + v->strides[e];
    v->offset += shift * v->strides[e];
    Erase(v, std::max(d, e));
    Erase(v, std::min(d, e));
    Insert(v, static_cast<int64_t>(v->sizes.size()), size, stride);
  }

  void SplitDim(View* v, int64_t d) {
    for (int64_t inner : {2, 3, 4}) {
      if (v->sizes[d] % inner != 0 || Below(2) == 0) continue;
      const int64_t stride = v->strides[d];
      v->sizes[d] /= inner;
      v->strides[d] *= inner;
      return Insert(v, d + 1, inner, stride);
    }
  }

  static void MergeDim(View* v, int64_t d) {
    if (d + 1 >= static_cast<int64_t>(v->sizes.size())) return;
    if (v->strides[d] != v->sizes[d + 1] * v->strides[d + 1]) return;
    v->sizes[d + 1] *= v->sizes[d];
    Erase(v, d);
  }

  // view(dtype), view_as_real, view_as_complex: the last dim must be dense and must divide.
  void ChangeDType(View* v) {
    static constexpr DType kDTypes[] = {DType::kF32, DType::kS32, DType::kU8,  DType::kPred,
                                        DType::kS16, DType::kF64, DType::kC64, DType::kS8};
    const DType to = kDTypes[Below(std::size(kDTypes))];
    const int64_t from_size = DTypeSize(v->dtype);
    const int64_t to_size = DTypeSize(to);
    if (v->strides.back() != 1) return;
    if (to_size > from_size) {
      const int64_t ratio = to_size / from_size;
      for (int64_t& stride : v->strides) {
        if (&stride != &v->strides.back() && stride % ratio != 0) return;
      }
      if (v->offset % ratio != 0 || v->sizes.back() % ratio != 0) return;
      for (int64_t& stride : v->strides) stride /= ratio;
      v->strides.back() = 1;
      v->sizes.back() /= ratio;
      v->offset /= ratio;
    } else {
      const int64_t ratio = from_size / to_size;
      for (int64_t& stride : v->strides) stride *= ratio;
      v->strides.back() = 1;
      v->sizes.back() *= ratio;
      v->offset *= ratio;
    }
    v->dtype = to;
  }

  void AsStrided(const Base& base, View* v) {
    const int64_t elements = NumElements(base.dims) * DTypeSize(base.dtype) / DTypeSize(v->dtype);
    View strided{v->dtype, {}, {}, 0};
    int64_t last = 0;
    for (int64_t rank = Below(4); rank > 0; --rank) {
      strided.sizes.push_back(1 + Below(4));
      strided.strides.push_back(Below(14));
      last += (strided.sizes.back() - 1) * strided.strides.back();
    }
    if (last >= elements) return;
    strided.offset = Below(elements - last);
    *v = strided;
  }

  std::mt19937 rng_;
};

}  // namespace torch_tpu::views::testing
