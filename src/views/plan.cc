// Turns a decomposition into steps.
#include <algorithm>
#include <utility>

#include "views/decompose.h"
#include "views/view.h"

namespace torch_tpu::views {
namespace {

// Appends steps, leaving out those that change nothing and joining neighbouring reshapes.
class PlanBuilder {
 public:
  explicit PlanBuilder(Plan* plan)
      : plan_(plan), dtype_(plan->base.dtype), dims_(plan->base.dims) {}

  const Dims& dims() const { return dims_; }
  DType dtype() const { return dtype_; }

  void Reshape(Dims dims) {
    if (!plan_->steps.empty() && plan_->steps.back().kind == Step::kReshape) {
      plan_->steps.pop_back();
      dims_ = plan_->steps.empty() ? plan_->base.dims : plan_->steps.back().dims;
    }
    if (dims != dims_) Add(Step::kReshape, dtype_, std::move(dims));
  }

  void Transpose(const Dims& permutation) {
    if (std::is_sorted(permutation.begin(), permutation.end())) return;
    Dims dims;
    for (int64_t p : permutation) dims.push_back(dims_[p]);
    Add(Step::kTranspose, dtype_, std::move(dims), permutation);
  }

  // From 0, `stride` apart.
  void Slice(Dims dims, Dims strides) {
    if (dims != dims_) Add(Step::kSlice, dtype_, std::move(dims), std::move(strides));
  }

  void SliceFront(Dims dims) {
    Dims ones(dims.size(), 1);
    Slice(std::move(dims), std::move(ones));
  }

  void Pad(Dims dims) {
    if (dims != dims_) Add(Step::kPad, dtype_, std::move(dims));
  }

  // Changes the dtype of all elements; a ratio of sizes shows as a trailing dim, added or taken.
  void CastTo(DType to) {
    if (dtype_ == to) return;
    if (IsComplex(dtype_)) {
      Add(Step::kSplitComplex, RealType(dtype_), Append(dims_, 2));
    }
    BitcastTo(RealType(to));
    if (IsComplex(to)) {
      GroupTrailing(2);
      Dims dims = dims_;
      dims.pop_back();
      Add(Step::kJoinComplex, to, std::move(dims));
    }
  }

  void Add(Step::Kind kind, DType dtype, Dims dims, Dims args = {}) {
    dtype_ = dtype;
    dims_ = dims;
    plan_->steps.push_back({kind, dtype, std::move(dims), std::move(args)});
  }

 private:
  static Dims Append(Dims dims, int64_t d) {
    dims.push_back(d);
    return dims;
  }

  void BitcastTo(DType to) {
    if (dtype_ == to) return;
    const int64_t from_size = DTypeSize(dtype_);
    const int64_t to_size = DTypeSize(to);
    if (to_size > from_size) GroupTrailing(to_size / from_size);
    Dims dims = dims_;
    if (to_size > from_size) dims.pop_back();
    if (to_size < from_size) dims.push_back(from_size / to_size);
    Add(Step::kBitcast, to, std::move(dims));
  }

  // Gives the value a last dim of `size`, dropping elements at the end that do not fill one.
  void GroupTrailing(int64_t size) {
    Dims dims = dims_;
    const int64_t last = dims.empty() ? 1 : dims.back();
    if (last == size) return;
    const int64_t elements = NumElements(dims);
    if (last % size == 0 && last > 0) {
      dims.back() /= size;
    } else {
      Reshape({elements});
      SliceFront({elements - elements % size});
      dims = {elements / size};
    }
    Reshape(Append(std::move(dims), size));
  }

  Plan* plan_;
  DType dtype_;
  Dims dims_;
};

// What the bits are made into before slicing. An elementwise reinterpretation commutes with every
// step and goes last, on the fewest elements; for i1 over bytes this also keeps a write from
// normalising bytes that it does not touch.
DType SliceDType(DType base, DType view) {
  const bool elementwise =
      DTypeSize(base) == DTypeSize(view) && !IsComplex(base) && !IsComplex(view);
  if (elementwise) return base;
  return view == DType::kPred ? DType::kU8 : view;
}

Dims WithoutOnes(const Dims& dims) {
  Dims out;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(out), [](int64_t d) { return d != 1; });
  return out;
}

bool IsBroadcastDim(const View& view, size_t i) {
  return view.strides[i] == 0 && view.sizes[i] > 1;
}

bool HasBroadcast(const View& view) {
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (IsBroadcastDim(view, i)) return true;
  }
  return false;
}

// The last steps: the value's dims hold the elements of `walks` in memory order (some coalesced,
// with ones between them); brings them into the view's order and adds ones and broadcasts.
void Arrange(const View& view, std::span<const Walk> walks, PlanBuilder* b) {
  Dims walk_sizes;
  Dims walk_dims;  // of the view, in memory order
  for (const Walk& walk : walks) {
    walk_sizes.push_back(walk.size);
    walk_dims.push_back(walk.dim);
  }
  const bool in_order = std::is_sorted(walk_dims.begin(), walk_dims.end());
  const bool broadcast = HasBroadcast(view);
  if (in_order && !broadcast) return b->Reshape(view.sizes);

  Dims unexpanded = view.sizes;
  for (size_t i = 0; i < unexpanded.size(); ++i) {
    if (IsBroadcastDim(view, i)) unexpanded[i] = 1;
  }
  const size_t rank = view.sizes.size();
  Dims all_dims(rank);
  for (size_t i = 0; i < rank; ++i) all_dims[i] = i;
  if (b->dims().size() == rank && WithoutOnes(b->dims()) == walk_sizes) {
    // Same rank: the ones take part in the transpose, which saves two reshapes.
    if (!in_order) {
      Dims permutation(rank, -1);
      size_t one = 0;
      size_t walk = 0;
      for (size_t i = 0; i < rank; ++i) {
        if (b->dims()[i] != 1) permutation[walk_dims[walk++]] = i;
      }
      for (int64_t& p : permutation) {
        if (p >= 0) continue;
        while (b->dims()[one] != 1) ++one;
        p = one++;
      }
      b->Transpose(permutation);
    }
  } else {
    b->Reshape(walk_sizes);
    Dims permutation(walks.size());
    for (size_t i = 0; i < walks.size(); ++i) permutation[i] = i;
    std::sort(permutation.begin(), permutation.end(),
              [&](int64_t x, int64_t y) { return walk_dims[x] < walk_dims[y]; });
    b->Transpose(permutation);
  }
  if (!broadcast) return b->Reshape(view.sizes);
  if (b->dims() == unexpanded) {
    b->Add(Step::kBroadcast, b->dtype(), view.sizes, all_dims);
  } else {
    std::sort(walk_dims.begin(), walk_dims.end());
    b->Reshape(WithoutOnes(b->dims()));
    b->Add(Step::kBroadcast, b->dtype(), view.sizes, walk_dims);
  }
}

void AddBox(const Decomposition& d, PlanBuilder* b) {
  Dims sizes;
  for (int k = 0; k < d.num_factors; ++k) sizes.push_back(d.factors[k].size);
  // Where the factors are the base's own dims, its dims of size 1 may stay.
  if (WithoutOnes(b->dims()) != sizes) b->Reshape(sizes);
  Dims extents;
  Dims counts;
  Dims steps;
  Dims starts;
  int next_start = 0;
  const Factor* next_factor = d.factors.data();
  for (int64_t size : b->dims()) {
    static constexpr Factor kOne = {1, 1, 1, 1};
    const Factor& factor = size == 1 ? kOne : *next_factor++;
    extents.push_back(factor.extent());
    counts.push_back(factor.count);
    steps.push_back(factor.step);
    starts.push_back(factor.extent() < size ? next_start++ : -1);
  }
  if (next_start > 0)
    b->Add(Step::kDynamicSlice, b->dtype(), std::move(extents), std::move(starts));
  b->Slice(std::move(counts), std::move(steps));
}

// Cuts the elements from the first to the last, then walk by walk makes blocks of one stride each.
void AddWindow(const Decomposition& d, PlanBuilder* b) {
  std::array<Walk, kMaxDims> walks = d.walks;
  const int num = Coalesce(walks.data(), d.num_walks);
  b->Reshape({d.base_elements});
  if (d.PartialWindow()) b->Add(Step::kDynamicSlice, b->dtype(), {d.last + 1}, {0});
  Dims outer;
  for (int i = 0; i < num; ++i) {
    const Walk& walk = walks[i];
    Dims dims = outer;
    if (i + 1 == num) {
      dims.push_back(walk.size);
      Dims strides(outer.size(), 1);
      strides.push_back(walk.stride);
      b->Slice(std::move(dims), std::move(strides));
      return;
    }
    const int64_t width = walk.size * walk.stride;
    dims.push_back(width);
    if (b->dims().back() < width) {
      b->Pad(dims);
    } else {
      b->SliceFront(dims);
    }
    outer.push_back(walk.size);
    dims = outer;
    dims.push_back(walk.stride);
    b->Reshape(std::move(dims));
  }
}

void AddGather(const Decomposition& d, const View& view, PlanBuilder* b) {
  b->Reshape({d.base_elements});
  Dims sizes;
  Dims strides;
  Dims dims;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (view.sizes[i] == 1 || view.strides[i] == 0) continue;
    sizes.push_back(view.sizes[i]);
    strides.push_back(view.strides[i]);
    dims.push_back(i);
  }
  b->Add(Step::kGather, b->dtype(), std::move(sizes), std::move(strides));
  if (HasBroadcast(view)) {
    b->Add(Step::kBroadcast, b->dtype(), view.sizes, dims);
  } else {
    b->Reshape(view.sizes);
  }
}

// Walks that are not nested reach some element twice, or interleave (strides 3 and 2).
bool WalksOverlap(const View& view) {
  std::vector<Walk> walks;
  int64_t reach = 0;
  int64_t count = 1;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (view.sizes[i] == 1) continue;
    walks.push_back({view.sizes[i], view.strides[i], static_cast<int>(i)});
    reach += walks.back().last();
  }
  std::sort(walks.begin(), walks.end(),
            [](const Walk& x, const Walk& y) { return x.stride > y.stride; });
  // The outer walks that step over all that is inside them cannot collide.
  auto first = walks.begin();
  for (; first != walks.end() && first->stride > reach - first->last(); ++first) {
    reach -= first->last();
  }
  for (auto walk = first; walk != walks.end(); ++walk) {
    if (walk + 1 != walks.end() && walk[0].stride == walk[1].stride) return true;
    if (__builtin_mul_overflow(count, walk->size, &count)) return true;
  }
  constexpr int64_t kMaxElements = int64_t{1} << 24;
  if (count > reach + 1 || count > kMaxElements) return true;
  std::vector<int64_t> positions = {0};
  for (auto walk = first; walk != walks.end(); ++walk) {
    const size_t before = positions.size();
    for (int64_t i = 1; i < walk->size; ++i) {
      for (size_t k = 0; k < before; ++k) positions.push_back(positions[k] + i * walk->stride);
    }
  }
  std::sort(positions.begin(), positions.end());
  return std::adjacent_find(positions.begin(), positions.end()) != positions.end();
}

Status Outside(const Base& base, const View& view) {
  return InvalidArgument(
      "view: expected sizes >= 0, strides >= 0 and all elements inside the base, got sizes " +
      DimsToString(view.sizes) + ", strides " + DimsToString(view.strides) + ", offset " +
      std::to_string(view.offset) + " of " + std::string(DTypeName(view.dtype)) +
      " over a base of " + base.ToString());
}

}  // namespace

Result<Plan> MakePlan(const Base& base, const View& view) {
  Decomposition d;
  if (!Decompose(base, view.dtype, view.sizes, view.strides, &d) || !IsInside(d, view.offset)) {
    return Outside(base, view);
  }
  Plan plan;
  plan.base = base;
  plan.view = view;
  PlanBuilder b(&plan);
  if (d.kind == Decomposition::kEmpty) {
    plan.dynamic = !IsWhole(base, view.dtype, view.sizes, view.strides, view.offset);
    if (NumElements(base.dims) > 0) {
      b.Reshape({NumElements(base.dims)});
      b.SliceFront({0});
    }
    b.CastTo(view.dtype);
    b.Reshape(view.sizes);
    return plan;
  }
  b.CastTo(SliceDType(base.dtype, view.dtype));
  const std::span<const Walk> walks(d.walks.data(), d.num_walks);
  const bool whole = IsWhole(base, view.dtype, view.sizes, view.strides, view.offset);
  const bool split = AppendStarts(d, view.offset, &plan.starts);
  plan.dynamic = !whole && (split || d.PartialWindow());
  if (d.kind == Decomposition::kGather) {
    plan.overlapping = WalksOverlap(view);
    AddGather(d, view, &b);
  } else {
    plan.overlapping = HasBroadcast(view);
    if (d.kind == Decomposition::kBox && split) {
      AddBox(d, &b);
    } else {
      if (!split && d.PartialWindow()) plan.starts.push_back(view.offset);
      AddWindow(d, &b);
    }
    Arrange(view, walks, &b);
  }
  b.CastTo(view.dtype);
  return plan;
}

bool Plan::CoversBase() const {
  return !overlapping && NumElements(view.sizes) * DTypeSize(view.dtype) ==
                             NumElements(base.dims) * DTypeSize(base.dtype);
}

std::string Plan::ToString() const {
  static constexpr const char* kNames[] = {
      "bitcast", "split_complex", "join_complex", "reshape",   "slice",
      "slice",   "pad",           "transpose",    "broadcast", "gather"};
  if (steps.empty()) return "whole";
  std::string out;
  for (const Step& step : steps) {
    if (!out.empty()) out += ' ';
    out += kNames[step.kind];
    switch (step.kind) {
      case Step::kBitcast:
      case Step::kSplitComplex:
      case Step::kJoinComplex:
        out += DimsToString(step.dims) + std::string(DTypeName(step.dtype));
        break;
      case Step::kDynamicSlice: {
        Dims at;
        for (int64_t start : step.args) at.push_back(start < 0 ? 0 : starts[start]);
        out += DimsToString(step.dims) + "@" + DimsToString(at);
        break;
      }
      case Step::kTranspose:
        out += DimsToString(step.args);
        break;
      case Step::kSlice:
      case Step::kBroadcast:
      case Step::kGather:
        out += DimsToString(step.dims) + "/" + DimsToString(step.args);
        break;
      case Step::kReshape:
      case Step::kPad:
        out += DimsToString(step.dims);
        break;
    }
  }
  return out;
}

}  // namespace torch_tpu::views
