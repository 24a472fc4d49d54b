// The recording of calls.
#include "device/tracer.h"

#include <c10/util/ThreadLocalDebugInfo.h>

#include <atomic>

#include "device/errors.h"
#include "views/view.h"

namespace torch_tpu::device {
namespace {

thread_local Tracer* g_current = nullptr;
std::atomic<int> g_tasks{0};  // live tracers of scope kTask
std::atomic<uint64_t> g_next_id{1};

using Binding = graph::Trace::Binding;

// How a task's tracer follows it into PyTorch's threads.
constexpr std::string_view kTaskName = "TORCH_TPU_TRACER";
const c10::DebugInfoKind kTask(&kTaskName);
struct TaskInfo final : c10::DebugInfoBase {
  explicit TaskInfo(Tracer* t) : tracer(t) {}
  Tracer* tracer;
};

// "model.py:12 in forward" to file and line.
void SplitPythonLine(const std::string& text, graph::Trace::Node* node) {
  const size_t end = text.rfind(" in ");
  const size_t colon = text.rfind(':', end);
  if (colon == std::string::npos) return;
  node->file = text.substr(0, colon);
  node->line = std::atoi(text.c_str() + colon + 1);
}

}  // namespace

Tracer::Tracer(Scope scope) : trace_(std::make_shared<graph::Trace>()), scope_(scope) {
  trace_->id = g_next_id.fetch_add(1, std::memory_order_relaxed);
  if (scope_ == Scope::kTask) {
    c10::ThreadLocalDebugInfo::_push(kTask, std::make_shared<TaskInfo>(this));
    g_tasks.fetch_add(1);
  } else {
    outer_ = std::exchange(g_current, this);
  }
}

Tracer::~Tracer() {
  if (scope_ == Scope::kTask) {
    g_tasks.fetch_sub(1);
    c10::ThreadLocalDebugInfo::_pop(kTask);
  } else {
    g_current = outer_;
  }
}

Tracer* Tracer::Current() {
  if (g_current != nullptr || g_tasks.load(std::memory_order_relaxed) == 0) return g_current;
  const auto* info = static_cast<const TaskInfo*>(c10::ThreadLocalDebugInfo::get(kTask));
  return info == nullptr ? nullptr : info->tracer;
}

bool Tracer::ForAbsentTpu() {
  return g_tasks.load(std::memory_order_relaxed) != 0 &&
         c10::ThreadLocalDebugInfo::get(kTask) != nullptr;
}

at::Tensor Tracer::AddPlaceholder(c10::ScalarType dtype, c10::IntArrayRef sizes) {
  return AddPlaceholder(dtype, sizes, ContiguousStrides(Dims(sizes.begin(), sizes.end())));
}

at::Tensor Tracer::AddPlaceholder(c10::ScalarType dtype, c10::IntArrayRef sizes,
                                  c10::IntArrayRef strides) {
  Dims memory, order;
  TORCH_CHECK(views::DenseOrder(sizes, strides, &memory, &order),
              "an input of a traced function must be dense, got sizes ", sizes, " and strides ",
              strides);
  const graph::TensorType* type = graph::InternType(CheckedDType(dtype), memory);
  const int number = static_cast<int>(trace_->placeholders.size());
  trace_->placeholders.push_back(*type);
  return MakeTensor(graph::Value::Traced(type, trace_->id, -1, number), dtype, sizes, strides);
}

Binding Tracer::BindingOf(const graph::OperandRef& operand) {
  Binding b{};
  if (!operand.value) {
    b.kind = Binding::kConstant;
    b.bits = operand.bits;
    return b;
  }
  const graph::Value& value = *operand.value;
  switch (value.state()) {
    case graph::Value::State::kTraced:
      TORCH_CHECK(value.trace() == trace_->id,
                  "a tensor made while one operator was traced was used after or outside of it");
      b.kind = value.node() < 0 ? Binding::kPlaceholder : Binding::kNode;
      b.index = value.node() < 0 ? value.output() : value.node();
      b.output = value.output();
      return b;
    case graph::Value::State::kSplat:
      b.kind = Binding::kConstant;
      b.bits = value.splat();
      return b;
    case graph::Value::State::kDeferred:
    case graph::Value::State::kError:
      ThrowIfError(value.error());
      break;
    case graph::Value::State::kBuffer:
      break;
  }
  b.kind = Binding::kCaptured;
  b.index = static_cast<int>(trace_->captured.size());
  trace_->captured.push_back(operand.value);
  return b;
}

std::vector<ValueRef> Tracer::Append(const std::shared_ptr<const graph::CallSpec>& spec,
                                     const std::vector<graph::OperandRef>& operands) {
  graph::Trace::Node node;
  if (scope_ == Scope::kTask) SplitPythonLine(PythonLine(), &node);
  std::lock_guard lock(mutex_);
  node.spec = spec;
  for (const auto& o : operands) node.operands.push_back(BindingOf(o));
  for (int i = 0; i < spec->num_seeds; ++i) {
    Binding b{};
    b.kind = Binding::kSeed;
    b.index = trace_->num_seeds++;
    node.operands.push_back(b);
  }
  for (const auto& value : spec->captured)
    node.operands.push_back(BindingOf({value, DType::kInvalid, {}}));
  const int number = static_cast<int>(trace_->nodes.size());
  trace_->nodes.push_back(std::move(node));
  std::vector<ValueRef> results;
  int k = 0;
  for (const auto& call : spec->calls) {
    for (const auto& o : call.outputs) {
      if (o.kind == graph::OutputSpec::kNone) continue;
      results.push_back(graph::Value::Traced(graph::InternType(o.result.dtype, o.result.dims),
                                             trace_->id, number, k++));
    }
  }
  return results;
}

void Tracer::AddOutput(const at::Tensor& tensor) {
  graph::Trace::Output output;
  if (!tensor.defined()) {
    output.defined = false;
    trace_->outputs.push_back(output);
    return;
  }
  TORCH_CHECK(tensor.device().type() == c10::DeviceType::PrivateUse1,
              "a decomposition returned a tensor on ", tensor.device(), " instead of the device");
  Signature signature;
  const int use = signature.AddTensor(*tensor.unsafeGetTensorImpl());
  signature.Finish();
  output.read = signature.SpecOf(use);
  const ValueRef value = HandleOf(tensor).Get();
  output.source = BindingOf({value, DType::kInvalid, {}});
  output.read.splat_operand = false;
  output.read.splat.reset();
  output.read.operand = 0;
  trace_->outputs.push_back(std::move(output));
}

std::shared_ptr<const graph::Trace> Tracer::Finish() { return trace_; }

}  // namespace torch_tpu::device
