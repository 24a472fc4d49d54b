// The layout algebra: a PyTorch tensor (dtype, sizes, strides, offset over a storage) read from,
// and written into, an immutable row-major base value.
//
// A *base* is one dense value with a dtype and a row-major shape; the storage holds its elements in
// that order, starting at byte 0. A *view* is what a tensor says about the storage. Plan turns a
// view into a short list of steps (reshape, slice, transpose, broadcast, pad, bitcast); layouts
// that no such list describes become a gather whose indices are computed from iotas in the program.
// A write is the inverse: the sliced stages are re-made forward and the update goes back with
// dynamic_update_slice or pad-and-select; scatter is the fallback.
//
// Start positions of slices are run-time operands, never part of the program: two views that differ
// only in offset and whose `dynamic` flag is set share one program (x[i] in a loop, a KV cache).
//
// All functions are pure and may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "shlo/ops.h"

namespace torch_tpu::views {

using Base = shlo::TensorType;

// Sizes, strides and offset are in elements of `dtype`, as a TensorImpl reports them.
struct View {
  DType dtype = DType::kInvalid;
  Dims sizes;
  Dims strides;
  int64_t offset = 0;
  bool operator==(const View&) const = default;
};

// True when the view is the whole base in row-major order with the same dtype (its sizes may be
// another reshape of it, size-1 dims have any stride). Cheap: called for every operand of every
// call.
bool IsWhole(const Base& base, DType dtype, std::span<const int64_t> sizes,
             std::span<const int64_t> strides, int64_t offset);

// Splits `offset` into the values of a plan's start operands (appended to `starts`, int64, in
// elements of the view's dtype). Guarantee: for equal base, dtype, sizes and strides, all offsets
// for which this returns true with the same `wrapped` give the same number of starts and plans that
// are equal but for the values of `starts` and `view.offset`. After true, every element lies inside
// the base and no start clamps. `wrapped` (may be null): a box that crosses a row at this offset
// (x.view(-1)[4:8] over a base of (3, 6)) and is cut from the flat base instead.
// False for views that are whole and views that reach outside the base. Does not allocate beyond
// `starts`.
bool SplitOffset(const Base& base, DType dtype, std::span<const int64_t> sizes,
                 std::span<const int64_t> strides, int64_t offset, std::vector<int64_t>* starts,
                 bool* wrapped = nullptr);
inline bool SplitOffset(const Base& base, const View& view, std::vector<int64_t>* starts,
                        bool* wrapped = nullptr) {
  return SplitOffset(base, view.dtype, view.sizes, view.strides, view.offset, starts, wrapped);
}

struct Step {
  enum Kind {
    kBitcast,       // reinterprets bits; a size ratio adds or takes a trailing dim. i1 is converted
    kSplitComplex,  // complex to real with a trailing dim of 2
    kJoinComplex,   // real with a trailing dim of 2 to complex
    kReshape,
    kDynamicSlice,  // args: for each dim the number of its start operand, or -1 when fully covered
    kSlice,         // starts at 0; args: stride of each dim
    kPad,           // zeros at the end of each dim, never read by a later step
    kTranspose,     // args: permutation
    kBroadcast,     // args: broadcast_dimensions
    kGather,        // flat operand; args: stride of each result dim; start operand 0 is added
  };
  Kind kind;
  DType dtype = DType::kInvalid;  // of the result
  Dims dims;                      // of the result
  Dims args;
  bool operator==(const Step&) const = default;
};

struct Plan {
  Base base;
  View view;
  std::vector<Step> steps;
  std::vector<int64_t> starts;  // the values for this view's offset; operands when `dynamic`
  bool dynamic = false;
  // Two index tuples reach one element. Exact but for interleaved layouts of more than 2^24
  // elements, which count as overlapping.
  bool overlapping = false;

  // True when a write through the view replaces every element, so that the old base is not read.
  bool CoversBase() const;
  // "reshape[24] slice[8]@{0} reshape[2, 4]", or "whole" without steps.
  std::string ToString() const;
};

// Fails with INVALID_ARGUMENT when the view reaches outside the base (PyTorch's "setStorage ... out
// of bounds" wording is the seam's business) or has a negative size or stride.
Result<Plan> MakePlan(const Base& base, const View& view);

// Emits the steps: `base` has plan.base's type; `starts` has plan.starts.size() rank-0 integer
// values of one dtype when plan.dynamic; empty, the plan's own starts become constants. The result
// has view.sizes and view.dtype.
shlo::Value EmitRead(const Plan& plan, shlo::Value base, std::span<const shlo::Value> starts);

// The new base after writing `update` (view.sizes, view.dtype) through the view. A broadcast
// (stride 0, size > 1) is refused (BuildError): the seam checks before and raises PyTorch's
// message. Where other overlapping layouts reach an element twice, either of its updates is kept:
// CPU PyTorch leaves that open too, and fill_ is well-defined.
shlo::Value EmitWrite(const Plan& plan, shlo::Value base, shlo::Value update,
                      std::span<const shlo::Value> starts);

// The dims in memory order and the permutation for a dense, non-overlapping layout: a tensor of
// `sizes` with `strides` that fill a dense block is transpose(base of `memory_dims`, inverse).
// Returns false when the layout is not dense. memory_dims[i] = sizes[order[i]], strides descending;
// size-1 dims stay where they are. Layouts without elements are dense.
bool DenseOrder(std::span<const int64_t> sizes, std::span<const int64_t> strides, Dims* memory_dims,
                Dims* order);

}  // namespace torch_tpu::views
