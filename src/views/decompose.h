// How a view walks over its base, found without allocation; SplitOffset and MakePlan share it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "views/view.h"

namespace torch_tpu::views {

// Dims of two or more elements: no value that can be addressed has more.
inline constexpr int kMaxDims = 64;

// A view dim with at least two elements and a positive stride, or several coalesced.
struct Walk {
  int64_t size;
  int64_t stride;
  int dim;  // of the view; the innermost one when coalesced

  int64_t last() const { return (size - 1) * stride; }
};

// One dim of the row-major shape that the base is reshaped to before it is sliced. `count` elements
// are taken at distance `step`; a factor that no walk uses has count 1.
struct Factor {
  int64_t size;
  int64_t unit;  // base elements from one index to the next
  int64_t count;
  int64_t step;

  int64_t extent() const { return (count - 1) * step + 1; }
};

struct Decomposition {
  enum Kind {
    kEmpty,   // no elements
    kBox,     // each walk stays inside one factor
    kWindow,  // walks nest: each stride is larger than all that the smaller ones reach
    kGather,  // anything else
  };
  Kind kind = kEmpty;
  int64_t base_elements = 0;  // in the view's dtype
  int64_t last = 0;           // the largest position reached, not counting the offset
  int num_walks = 0;          // kBox and kWindow: strides descending
  int num_factors = 0;        // kBox
  std::array<Walk, kMaxDims> walks;
  std::array<Factor, kMaxDims> factors;

  // True when the window is a part of the base, so that it needs a start.
  bool PartialWindow() const { return last + 1 < base_elements; }
};

// False when no offset would make the view valid.
bool Decompose(const Base& base, DType dtype, std::span<const int64_t> sizes,
               std::span<const int64_t> strides, Decomposition* d);

// False when the view at `offset` reaches outside the base.
bool IsInside(const Decomposition& d, int64_t offset);

// Appends the starts for `offset`. False, with `starts` unchanged, when outside or when a box
// wraps.
bool AppendStarts(const Decomposition& d, int64_t offset, std::vector<int64_t>* starts);

// Joins neighbours that step through memory like one dim (in place); gives the new number.
int Coalesce(Walk* walks, int num_walks);

}  // namespace torch_tpu::views
