// Finds factors of the base's shape that a view's dims walk along.
#include "views/decompose.h"

#include <numeric>
#include <span>

namespace torch_tpu::views {
namespace {

// Row-major shape of the base in elements of the view's dtype, without dims of size 1.
struct BaseShape {
  int rank = 0;
  std::array<int64_t, kMaxDims> dims;
  // strides[k] is the number of elements below dim k - 1; strides[0] all, strides[rank] one.
  std::array<int64_t, kMaxDims + 1> strides;
};

// A base read as a smaller dtype gets a trailing dim; as a larger one it keeps its dims when the
// last of them divides, and is flat otherwise.
bool MakeBaseShape(const Base& base, DType dtype, BaseShape* shape, int64_t* elements) {
  const int64_t from = DTypeSize(base.dtype);
  const int64_t to = DTypeSize(dtype);
  if (from == 0 || to == 0) return false;
  int64_t count = 1;
  for (int64_t d : base.dims) {
    if (d < 0 || __builtin_mul_overflow(count, d, &count)) return false;
    if (d > 1 && shape->rank < kMaxDims - 1) shape->dims[shape->rank++] = d;
  }
  *elements = count;
  if (from != to) {
    if (__builtin_mul_overflow(count, from, elements)) return false;
    *elements /= to;
  }
  if (count == 0) return true;
  if (from > to) {
    shape->dims[shape->rank++] = from / to;
  } else if (from < to) {
    int64_t* last = shape->rank > 0 ? &shape->dims[shape->rank - 1] : nullptr;
    if (last != nullptr && *last % (to / from) == 0) {
      *last /= to / from;
      if (*last == 1) --shape->rank;
    } else {
      shape->rank = *elements > 1 ? 1 : 0;
      shape->dims[0] = *elements;
    }
  }
  shape->strides[shape->rank] = 1;
  for (int k = shape->rank; k-- > 0;) {
    shape->strides[k] = shape->strides[k + 1] * shape->dims[k];
  }
  return true;
}

// Sets walks (strides descending) and `last`, or kEmpty, or kGather when there are too many dims to
// be anything else.
bool CollectWalks(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                  Decomposition* d) {
  if (sizes.size() != strides.size()) return false;
  bool empty = false;
  for (int64_t size : sizes) {
    if (size < 0) return false;
    empty |= size == 0;
  }
  d->kind = empty ? Decomposition::kEmpty : Decomposition::kBox;
  if (empty) return true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Walk walk{sizes[i], strides[i], static_cast<int>(i)};
    if (walk.size == 1 || walk.stride == 0) continue;
    int64_t reach;
    if (walk.stride < 0 || __builtin_mul_overflow(walk.size - 1, walk.stride, &reach) ||
        __builtin_add_overflow(d->last, reach, &d->last)) {
      return false;
    }
    if (d->num_walks == kMaxDims) {
      d->kind = Decomposition::kGather;
      continue;
    }
    int at = d->num_walks++;
    for (; at > 0 && d->walks[at - 1].stride < walk.stride; --at) d->walks[at] = d->walks[at - 1];
    d->walks[at] = walk;
  }
  return d->last < d->base_elements;
}

bool IsNested(const Decomposition& d) {
  int64_t reach = 0;
  for (int i = d.num_walks; i-- > 0;) {
    if (d.walks[i].stride <= reach) return false;
    reach += d.walks[i].last();
  }
  return true;
}

// Splits a run of base dims, `size` elements of `unit` each, so that every walk gets a factor of
// its own. The greatest common divisor is the largest boundary below a walk that also divides what
// is above, hence the one that leaves most room for the walks below it.
bool SplitRun(int64_t size, int64_t unit, std::span<const Walk> walks, Decomposition* d) {
  for (size_t i = 0; i + 1 < walks.size(); ++i) {
    const int64_t stride = walks[i].stride / unit;
    const int64_t below = std::gcd(stride, size);
    if (below <= walks[i + 1].last() / unit) return false;
    d->factors[d->num_factors++] = {size / below, unit * below, walks[i].size, stride / below};
    size = below;
  }
  d->factors[d->num_factors++] = {size, unit, walks.back().size, walks.back().stride / unit};
  return true;
}

// One past the innermost dim whose elements `stride` does not cut. Divisions are most of the cost
// of a decomposition, so the common case, a stride of the base itself, goes without.
int InnermostDim(const BaseShape& base, int64_t stride) {
  int k = base.rank;
  while (base.strides[k] < stride) --k;
  if (base.strides[k] == stride) return k;
  while (stride % base.strides[k] != 0) ++k;
  return k;
}

// Base dims that one walk crosses become one run. Keeping the others apart keeps the base's own
// shape, and with it the device layout, wherever the view allows.
bool FindFactors(const BaseShape& base, Decomposition* d) {
  std::array<bool, kMaxDims> joined;  // dim k and dim k - 1
  for (int k = 0; k < base.rank; ++k) joined[k] = false;
  std::array<int, kMaxDims> home;  // the outermost dim that a walk uses
  for (int i = 0; i < d->num_walks; ++i) {
    const int inner = InnermostDim(base, d->walks[i].stride);
    int outer = base.rank;
    while (base.strides[outer] <= d->walks[i].last()) --outer;
    for (int k = outer + 1; k < inner; ++k) joined[k] = true;
    home[i] = outer;
  }
  int walk = 0;
  for (int first = 0; first < base.rank;) {
    int end = first + 1;
    while (end < base.rank && joined[end]) ++end;
    std::array<Walk, kMaxDims> run;
    int num = 0;
    while (walk < d->num_walks && home[walk] < end) run[num++] = d->walks[walk++];
    const int64_t unit = base.strides[end];
    const int64_t size = end == first + 1 ? base.dims[first] : base.strides[first] / unit;
    if (num == 0) {
      d->factors[d->num_factors++] = {size, unit, 1, 1};
    } else if (num == 1 && run[0].stride == unit) {
      d->factors[d->num_factors++] = {size, unit, run[0].size, 1};
    } else {
      num = Coalesce(run.data(), num);
      if (!SplitRun(size, unit, {run.data(), static_cast<size_t>(num)}, d)) return false;
    }
    first = end;
  }
  return true;
}

}  // namespace

int Coalesce(Walk* walks, int num_walks) {
  int num = 0;
  for (int i = 0; i < num_walks; ++i) {
    if (num > 0 && walks[num - 1].stride == walks[i].size * walks[i].stride) {
      walks[num - 1] = {walks[num - 1].size * walks[i].size, walks[i].stride, walks[i].dim};
    } else {
      walks[num++] = walks[i];
    }
  }
  return num;
}

bool Decompose(const Base& base, DType dtype, std::span<const int64_t> sizes,
               std::span<const int64_t> strides, Decomposition* d) {
  BaseShape shape;
  if (!MakeBaseShape(base, dtype, &shape, &d->base_elements)) return false;
  if (!CollectWalks(sizes, strides, d)) return false;
  if (d->kind != Decomposition::kBox) return true;
  if (!IsNested(*d)) {
    d->kind = Decomposition::kGather;
  } else if (!FindFactors(shape, d)) {
    d->kind = Decomposition::kWindow;
  }
  return true;
}

bool IsInside(const Decomposition& d, int64_t offset) {
  if (d.kind == Decomposition::kEmpty) return true;
  return offset >= 0 && offset < d.base_elements - d.last;
}

bool AppendStarts(const Decomposition& d, int64_t offset, std::vector<int64_t>* starts) {
  if (!IsInside(d, offset)) return false;
  if (d.kind == Decomposition::kEmpty) return true;
  if (d.kind == Decomposition::kGather) {
    starts->push_back(offset);
    return true;
  }
  if (d.kind == Decomposition::kWindow) {
    if (d.PartialWindow()) starts->push_back(offset);
    return true;
  }
  const size_t before = starts->size();
  for (int k = 0; k < d.num_factors; ++k) {
    const Factor& factor = d.factors[k];
    int64_t start = 0;
    if (offset >= factor.unit) {
      start = offset / factor.unit;
      offset -= start * factor.unit;
    }
    if (start + factor.extent() > factor.size) {
      starts->resize(before);
      return false;
    }
    if (factor.extent() < factor.size) starts->push_back(start);
  }
  return true;
}

}  // namespace torch_tpu::views
