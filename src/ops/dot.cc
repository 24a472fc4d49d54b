// The one product that all matrix products are made of, with the dims that PyTorch flattened.
//
// PyTorch makes `linear` of a [batch, length, features] tensor a product of a [batch * length,
// features] matrix. A TPU tiles the last two dims, so that flattening moves the data unless
// `length` fills its tiles. The product therefore takes flattened and transposed factors as they
// were before.
#include <algorithm>
#include <utility>

#include "ops/matmul.h"

namespace torch_tpu::ops {
namespace {

// A factor before it was rearranged; for each dim that the caller knows, the dims of `value` that
// it consists of.
struct Factor {
  Value value;
  std::vector<Dims> parts;
};

Factor AsItIs(Value v) {
  Factor f{v, {}};
  for (int64_t i = 0; i < v.rank(); ++i) f.parts.push_back({i});
  return f;
}

Factor BeforeFlattening(Value v) {
  Value before = shlo::Unreshaped(v);
  if (auto parts = shlo::MergedDims(before.dims(), v.dims())) return {before, *std::move(parts)};
  return AsItIs(v);
}

Factor BeforeRearranging(Value v) {
  const shlo::Rearranged* from = v.builder().rearranged(v);
  if (from == nullptr || from->permutation.empty()) return BeforeFlattening(v);
  const Dims permutation = from->permutation;
  const Factor f = BeforeFlattening(from->operand);
  Factor out{f.value, {}};
  for (int64_t p : permutation) out.parts.push_back(f.parts[static_cast<size_t>(p)]);
  return out;
}

Dims Sizes(const Factor& f, int64_t dim) {
  Dims sizes;
  for (int64_t d : f.parts[static_cast<size_t>(dim)]) sizes.push_back(f.value.dim(d));
  return sizes;
}

// Makes the parts of `dim` one dim again.
void Merge(Factor& f, int64_t dim) {
  Dims& parts = f.parts[static_cast<size_t>(dim)];
  if (parts.size() < 2) return;
  const int64_t first = parts.front(), gone = static_cast<int64_t>(parts.size()) - 1;
  Dims dims = f.value.dims();
  for (int64_t i = 0; i < gone; ++i) {
    dims[static_cast<size_t>(first)] *= dims[static_cast<size_t>(first) + 1];
    dims.erase(dims.begin() + first + 1);
  }
  f.value = shlo::reshape(f.value, dims);
  parts = {first};
  for (Dims& others : f.parts) {
    for (int64_t& d : others) d -= d > first ? gone : 0;
  }
}

// Dims that are multiplied with each other consist of the same parts, or of one.
void Agree(Factor& a, const Dims& a_dims, Factor& b, const Dims& b_dims) {
  for (size_t i = 0; i < a_dims.size(); ++i) {
    if (Sizes(a, a_dims[i]) == Sizes(b, b_dims[i])) continue;
    Merge(a, a_dims[i]);
    Merge(b, b_dims[i]);
  }
}

Dims PartsOf(const Factor& f, const Dims& dims) {
  Dims out;
  for (int64_t d : dims) {
    const Dims& parts = f.parts[static_cast<size_t>(d)];
    out.insert(out.end(), parts.begin(), parts.end());
  }
  return out;
}

// The dims of a factor of rank `rank` that are neither batch nor contracted.
Dims FreeDims(int64_t rank, const Dims& batch, const Dims& contract) {
  Dims out;
  for (int64_t d = 0; d < rank; ++d) {
    if (std::ranges::find(batch, d) == batch.end() &&
        std::ranges::find(contract, d) == contract.end()) {
      out.push_back(d);
    }
  }
  return out;
}

}  // namespace

Value Dot(const Call& c, Value lhs, Value rhs, const shlo::DotDims& dims) {
  const Dims lhs_free = FreeDims(lhs.rank(), dims.lhs_batch, dims.lhs_contract);
  const Dims rhs_free = FreeDims(rhs.rank(), dims.rhs_batch, dims.rhs_contract);
  Dims result;
  for (int64_t d : dims.lhs_batch) result.push_back(lhs.dim(d));
  for (int64_t d : lhs_free) result.push_back(lhs.dim(d));
  for (int64_t d : rhs_free) result.push_back(rhs.dim(d));

  Factor a = BeforeRearranging(lhs), b = BeforeRearranging(rhs);
  // The product keeps the free dims of a factor in the factor's own order.
  if (!std::ranges::is_sorted(PartsOf(a, lhs_free))) a = AsItIs(lhs);
  if (!std::ranges::is_sorted(PartsOf(b, rhs_free))) b = AsItIs(rhs);
  Agree(a, dims.lhs_batch, b, dims.rhs_batch);
  Agree(a, dims.lhs_contract, b, dims.rhs_contract);
  const shlo::DotDims parts = {PartsOf(a, dims.lhs_batch), PartsOf(b, dims.rhs_batch),
                               PartsOf(a, dims.lhs_contract), PartsOf(b, dims.rhs_contract)};
  Value product =
      shlo::dot_general(a.value, b.value, parts, c.precision(), shlo::opmath_dtype(lhs.dtype()));
  return shlo::reshape(product, result);
}

}  // namespace torch_tpu::ops
