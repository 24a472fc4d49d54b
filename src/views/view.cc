// The questions that every operand of every call is asked: whole, splittable, dense.
#include "views/view.h"

#include <algorithm>
#include <utility>

#include "views/decompose.h"

namespace torch_tpu::views {

bool IsWhole(const Base& base, DType dtype, std::span<const int64_t> sizes,
             std::span<const int64_t> strides, int64_t offset) {
  if (dtype != base.dtype || sizes.size() != strides.size()) return false;
  int64_t expected = 1;
  bool contiguous = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) contiguous = false;
    if (__builtin_mul_overflow(expected, sizes[i], &expected)) return false;
  }
  int64_t elements = 1;
  for (int64_t d : base.dims) elements *= d;
  if (expected != elements) return false;
  return elements == 0 || (contiguous && offset == 0);
}

bool SplitOffset(const Base& base, DType dtype, std::span<const int64_t> sizes,
                 std::span<const int64_t> strides, int64_t offset, std::vector<int64_t>* starts,
                 bool* wrapped) {
  if (wrapped != nullptr) *wrapped = false;
  if (IsWhole(base, dtype, sizes, strides, offset)) return false;
  Decomposition d;
  if (!Decompose(base, dtype, sizes, strides, &d)) return false;
  if (AppendStarts(d, offset, starts)) return true;
  if (!IsInside(d, offset) || !d.PartialWindow()) return false;
  starts->push_back(offset);
  if (wrapped != nullptr) *wrapped = true;
  return true;
}

bool DenseOrder(std::span<const int64_t> sizes, std::span<const int64_t> strides, Dims* memory_dims,
                Dims* order) {
  if (sizes.size() != strides.size()) return false;
  const int64_t rank = static_cast<int64_t>(sizes.size());
  Dims moved;  // dims of two or more elements, by descending stride
  order->clear();
  for (int64_t i = 0; i < rank; ++i) {
    order->push_back(i);
    if (sizes[i] != 1) moved.push_back(i);
  }
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  if (!empty) {
    std::stable_sort(moved.begin(), moved.end(),
                     [&](int64_t x, int64_t y) { return strides[x] > strides[y]; });
    int64_t expected = 1;
    for (size_t i = moved.size(); i-- > 0;) {
      if (strides[moved[i]] != expected) return false;
      expected *= sizes[moved[i]];
    }
    auto next = moved.begin();
    for (int64_t& i : *order) {
      if (sizes[i] != 1) i = *next++;
    }
  }
  memory_dims->clear();
  for (int64_t i : *order) memory_dims->push_back(sizes[i]);
  return true;
}

}  // namespace torch_tpu::views
