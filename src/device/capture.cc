// From recorded calls to a module.
#include "device/capture.h"

#include <ATen/Functions.h>

#include "device/errors.h"
#include "device/handle.h"

namespace torch_tpu::device {
namespace {

graph::TensorSpec WholeOperand(int operand, const graph::TensorType& type) {
  graph::TensorSpec t;
  t.operand = operand;
  t.base = type;
  t.dtype = type.dtype;
  t.sizes = type.dims;
  return t;
}

graph::OutputSpec OutputLike(const graph::TensorType& type) {
  graph::OutputSpec o;
  o.type = o.result = type;
  return o;
}

// A placeholder's value as a tensor over all of its memory, row-major.
at::Tensor MemoryOf(const at::Tensor& placeholder) {
  const ValueRef value = HandleOf(placeholder).Get();
  const Dims& dims = value->type().dims;
  return MakeTensor(value, ToScalarType(value->type().dtype), dims, ContiguousStrides(dims));
}

// Without PyTorch's lazy forms: conjugated, negated and zero tensors have no value of their own.
at::Tensor Plain(const at::Tensor& t) {
  if (!t.defined()) return t;
  if (t._is_zerotensor()) return at::zeros(t.sizes(), t.options());
  return t.resolve_conj().resolve_neg();
}

bool IsPlaceholder(const graph::Value& value, size_t number) {
  return value.state() == graph::Value::State::kTraced && value.node() < 0 &&
         value.output() == static_cast<int>(number);
}

}  // namespace

Capture::Capture(bool keep_padding) {
  if (keep_padding) tracer_->KeepPadding();
}

at::Tensor Capture::Placeholder(c10::ScalarType dtype, c10::IntArrayRef sizes,
                                c10::IntArrayRef strides) {
  TORCH_CHECK(tracer_ != nullptr, "this capture has ended");
  placeholders_.push_back(tracer_->AddPlaceholder(dtype, sizes, strides));
  return placeholders_.back();
}

CapturedModule Capture::Finish(const std::vector<at::Tensor>& results) {
  TORCH_CHECK(tracer_ != nullptr, "this capture has ended");
  CapturedModule out;
  for (const at::Tensor& t : results) tracer_->AddOutput(Plain(t));
  for (size_t i = 0; i < placeholders_.size(); ++i) {
    if (IsPlaceholder(*HandleOf(placeholders_[i]).Get(), i)) continue;
    tracer_->AddOutput(MemoryOf(placeholders_[i]));
    out.written.push_back(static_cast<int>(i));
  }
  const std::shared_ptr<const graph::Trace> trace = tracer_->Finish();
  tracer_.reset();

  graph::CallSpec spec;
  spec.name = "torch_tpu::capture";
  spec.operands = trace->placeholders;
  graph::SubCall call;
  call.trace = trace;
  for (size_t i = 0; i < trace->placeholders.size(); ++i) {
    call.args.push_back({WholeOperand(static_cast<int>(i), trace->placeholders[i])});
  }
  for (const auto& output : trace->outputs) {
    TORCH_CHECK(output.defined, "a captured function returned an undefined tensor");
    out.outputs.push_back({output.read.dtype, output.read.sizes});
    call.outputs.push_back(OutputLike(out.outputs.back()));
  }
  for (size_t k = 0; k < out.written.size(); ++k) {
    const auto output = static_cast<int>(results.size() + k);
    if (spec.operands[out.written[k]] == out.outputs[output]) {
      spec.aliases.emplace_back(out.written[k], output);
    }
  }
  spec.calls.push_back(std::move(call));
  spec.seed_operand = static_cast<int>(spec.operands.size());
  spec.num_seeds = trace->num_seeds;
  for (int i = 0; i < spec.num_seeds; ++i) spec.operands.push_back({DType::kU64, {2}});
  spec.captured = trace->captured;
  for (const auto& value : spec.captured) spec.operands.push_back(value->type());
  out.num_seeds = spec.num_seeds;
  out.num_found = static_cast<int>(spec.captured.size());
  out.inputs = spec.operands;
  for (const auto& node : trace->nodes) out.operators.push_back(node.spec->name);
  out.text = ValueOrThrow(graph::BuildModule(spec)).text;
  return out;
}

}  // namespace torch_tpu::device
