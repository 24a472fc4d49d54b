// Reads and writes at computed positions.
#include <algorithm>

#include "shlo/attributes.h"
#include "shlo/check.h"
#include "shlo/ops.h"

namespace torch_tpu::shlo {
namespace {

// What gather and scatter have in common: windows of `sizes` placed at index vectors.
struct Placement {
  std::string_view op;
  const Dims& window_dims;     // positions of the window in the result or update
  const Dims& dropped;         // operand dims of window size 1 that the result lacks
  const Dims& batching;        // operand dims that run along with the indices
  const Dims& index_batching;  // index dims that they run along with
  const Dims& index_map;       // operand dim of each index component
  int64_t index_vector_dim;
};

Dims WithoutIndexVector(const Placement& p, Value indices) {
  Dims out = indices.dims();
  if (p.index_vector_dim < indices.rank()) out.erase(out.begin() + p.index_vector_dim);
  return out;
}

void CheckSorted(const Placement& p, std::string_view what, const Dims& dims) {
  if (!std::is_sorted(dims.begin(), dims.end())) {
    Fail(p.op, std::string(what) + " must be ascending, got " + DimsToString(dims));
  }
}

void CheckPlacement(const Placement& p, Value operand, Value indices) {
  CheckKind(p.op, "indices", indices, kIntegerKind);
  if (p.index_vector_dim < 0 || p.index_vector_dim > indices.rank()) {
    Fail(p.op, "index_vector_dim " + std::to_string(p.index_vector_dim) + " is out of range for " +
                   indices.type().ToString());
  }
  CheckDistinctDims(p.op, "operand dimensions of indices and batches", p.index_map, operand.rank());
  Dims dropped = p.dropped;
  dropped.insert(dropped.end(), p.batching.begin(), p.batching.end());
  CheckDistinctDims(p.op, "dropped and batching dimensions", dropped, operand.rank());
  CheckDistinctDims(p.op, "batching dimensions of indices", p.index_batching, indices.rank());
  CheckSize(p.op, "batching dimensions of indices", p.index_batching,
            static_cast<int64_t>(p.batching.size()));
  for (int64_t d : p.index_map) {
    if (Contains(p.batching, d))
      Fail(p.op, "dimension " + std::to_string(d) + " is both indexed and a batch");
  }
  for (size_t i = 0; i < p.batching.size(); ++i) {
    if (operand.dims()[p.batching[i]] != indices.dims()[p.index_batching[i]]) {
      Fail(p.op, "batches of " + operand.type().ToString() + " and indices " +
                     indices.type().ToString() + " differ");
    }
  }
  int64_t components =
      p.index_vector_dim == indices.rank() ? 1 : indices.dims()[p.index_vector_dim];
  CheckSize(p.op, "the map from index components to dimensions", p.index_map, components);
  CheckSorted(p, "window dimensions", p.window_dims);
  CheckSorted(p, "dropped dimensions", p.dropped);
  CheckSorted(p, "batching dimensions", p.batching);
  int64_t window_rank = operand.rank() - static_cast<int64_t>(dropped.size());
  CheckSize(p.op, "window dimensions", p.window_dims, window_rank);
  int64_t rank = static_cast<int64_t>(WithoutIndexVector(p, indices).size()) + window_rank;
  CheckDistinctDims(p.op, "window dimensions", p.window_dims, rank);
}

bool IsDropped(const Placement& p, int64_t dim) {
  return Contains(p.dropped, dim) || Contains(p.batching, dim);
}

// Dims of the result or update: the window at window_dims, the indices' own dims elsewhere.
Dims PlacedDims(const Placement& p, Value indices, const Dims& window) {
  Dims batch = WithoutIndexVector(p, indices);
  Dims out;
  size_t next_window = 0, next_batch = 0;
  for (size_t i = 0; i < batch.size() + window.size(); ++i) {
    bool in_window = Contains(p.window_dims, static_cast<int64_t>(i));
    out.push_back(in_window ? window[next_window++] : batch[next_batch++]);
  }
  return out;
}

// "name = [1, 2], " unless empty.
void AppendField(std::string& out, std::string_view name, const Dims& values) {
  if (values.empty()) return;
  out += name;
  out += " = " + ListText(values) + ", ";
}

}  // namespace

Value gather(Value operand, Value start_indices, const GatherDims& dims, const Dims& slice_sizes,
             bool indices_are_sorted) {
  constexpr std::string_view kOp = "stablehlo.gather";
  Placement p{kOp,
              dims.offset_dims,
              dims.collapsed_slice_dims,
              dims.operand_batching_dims,
              dims.start_indices_batching_dims,
              dims.start_index_map,
              dims.index_vector_dim};
  CheckSize(kOp, "slice_sizes", slice_sizes, operand.rank());
  CheckPlacement(p, operand, start_indices);
  Dims window;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    bool dropped = IsDropped(p, i);
    if (slice_sizes[i] < 0 || slice_sizes[i] > operand.dims()[i] ||
        (dropped && slice_sizes[i] > 1)) {
      Fail(kOp,
           "slice_sizes " + DimsToString(slice_sizes) + " do not fit " + operand.type().ToString());
    }
    if (!dropped) window.push_back(slice_sizes[i]);
  }
  std::string text = "#stablehlo.gather<";
  AppendField(text, "offset_dims", dims.offset_dims);
  AppendField(text, "collapsed_slice_dims", dims.collapsed_slice_dims);
  AppendField(text, "operand_batching_dims", dims.operand_batching_dims);
  AppendField(text, "start_indices_batching_dims", dims.start_indices_batching_dims);
  AppendField(text, "start_index_map", dims.start_index_map);
  text += "index_vector_dim = " + std::to_string(dims.index_vector_dim) + ">";
  return operand.builder().Emit1(kOp, {operand, start_indices},
                                 {{"dimension_numbers", std::move(text)},
                                  {"slice_sizes", I64ArrayText(slice_sizes)},
                                  {"indices_are_sorted", BoolText(indices_are_sorted)}},
                                 {operand.dtype(), PlacedDims(p, start_indices, window)});
}

static std::string ScatterDimsText(const ScatterDims& dims) {
  std::string text = "#stablehlo.scatter<";
  AppendField(text, "update_window_dims", dims.update_window_dims);
  AppendField(text, "inserted_window_dims", dims.inserted_window_dims);
  AppendField(text, "input_batching_dims", dims.input_batching_dims);
  AppendField(text, "scatter_indices_batching_dims", dims.scatter_indices_batching_dims);
  AppendField(text, "scatter_dims_to_operand_dims", dims.scatter_dims_to_operand_dims);
  return text + "index_vector_dim = " + std::to_string(dims.index_vector_dim) + ">";
}

// Each update has the element type of its input, the indices' dims, and a window no larger than the
// input.
static void CheckUpdates(const Placement& p, std::span<const Value> inputs, Value indices,
                         std::span<const Value> updates) {
  if (inputs.empty() || inputs.size() != updates.size()) {
    Fail(p.op, "needs one update for each input, got " + std::to_string(inputs.size()) +
                   " inputs and " + std::to_string(updates.size()) + " updates");
  }
  CheckPlacement(p, inputs[0], indices);
  for (size_t k = 0; k < inputs.size(); ++k) {
    CheckSameDType(p.op, inputs[k], updates[k]);
    Dims window;
    bool fits = inputs[k].dims() == inputs[0].dims();
    for (size_t i = 0; fits && i < p.window_dims.size(); ++i)
      fits = p.window_dims[i] < updates[k].rank();
    for (int64_t i = 0; fits && i < inputs[0].rank(); ++i) {
      if (IsDropped(p, i)) continue;
      int64_t size = updates[k].dims()[p.window_dims[window.size()]];
      fits = size <= inputs[0].dims()[i];
      window.push_back(size);
    }
    if (!fits || updates[k].dims() != PlacedDims(p, indices, window)) {
      Fail(p.op, "update " + updates[k].type().ToString() + " does not fit input " +
                     inputs[k].type().ToString() + " at indices " + indices.type().ToString());
    }
  }
}

std::vector<Value> scatter(std::span<const Value> inputs, Value indices,
                           std::span<const Value> updates, const ScatterDims& dims,
                           const Body& body, bool indices_are_sorted, bool unique_indices) {
  constexpr std::string_view kOp = "stablehlo.scatter";
  Placement p{kOp,
              dims.update_window_dims,
              dims.inserted_window_dims,
              dims.input_batching_dims,
              dims.scatter_indices_batching_dims,
              dims.scatter_dims_to_operand_dims,
              dims.index_vector_dim};
  CheckUpdates(p, inputs, indices, updates);
  std::vector<TensorType> results, elements;
  for (Value v : inputs) results.push_back(v.type());
  for (Value v : inputs) elements.push_back({v.dtype(), {}});
  std::vector<TensorType> arguments = elements;
  arguments.insert(arguments.end(), elements.begin(), elements.end());
  Builder& b = indices.builder();
  int region = b.Region(arguments, body);
  if (b.region_results(region) != elements) {
    Fail(kOp, "the body must return " + TypesText(elements) + ", got " +
                  TypesText(b.region_results(region)));
  }
  std::vector<Value> operands(inputs.begin(), inputs.end());
  if (inputs.size() > 1) {
    // XLA for CPU (seen in PJRT 0.115) gives wrong results when inputs are the same value, also
    // when it is only common-subexpression elimination that makes them so.
    operands = b.Emit("stablehlo.optimization_barrier", inputs, {}, results);
  }
  operands.push_back(indices);
  operands.insert(operands.end(), updates.begin(), updates.end());
  return b.Emit(kOp, operands,
                {{"scatter_dimension_numbers", ScatterDimsText(dims)},
                 {"indices_are_sorted", BoolText(indices_are_sorted)},
                 {"unique_indices", BoolText(unique_indices)}},
                std::move(results), {region});
}

Value scatter(Value input, Value indices, Value updates, const ScatterDims& dims,
              const Combine& combine, bool indices_are_sorted, bool unique_indices) {
  Body body = [&](std::span<const Value> v) { return std::vector<Value>{combine(v[0], v[1])}; };
  return scatter(std::span(&input, 1), indices, std::span(&updates, 1), dims, body,
                 indices_are_sorted, unique_indices)[0];
}

}  // namespace torch_tpu::shlo
