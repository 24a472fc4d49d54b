// Tracing decompositions and shape functions.
#include "device/decompose.h"

#include <c10/util/ScopeExit.h>

#include <algorithm>

#include "device/boxed.h"
#include "device/errors.h"
#include "device/tracer.h"

namespace torch_tpu::device {
namespace {

using torch::jit::Stack;

// The arguments with every device tensor replaced by a placeholder.
Stack Placeholders(const OpInfo& info, Arguments args, Tracer& tracer) {
  auto stand_in = [&](const at::Tensor& t) {
    if (!t.defined()) return t;
    if (t.device().is_privateuseone()) return tracer.AddPlaceholder(t.scalar_type(), t.sizes());
    // A host number keeps its place among the tensor arguments; its value may change from call to
    // call.
    auto p = tracer.AddPlaceholder(t.scalar_type(), {});
    if (t.unsafeGetTensorImpl()->is_wrapped_number())
      p.unsafeGetTensorImpl()->set_wrapped_number(true);
    return p;
  };
  Stack stack;
  for (size_t i = 0; i < args.size(); ++i) {
    const c10::IValue& v = args[i];
    if (info.args[i].out) continue;
    if (v.isTensor()) {
      stack.emplace_back(stand_in(v.toTensor()));
    } else if (v.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& t : v.toTensorVector()) list.push_back(stand_in(t));
      stack.emplace_back(std::move(list));
    } else if (info.args[i].kind == ArgKind::kOptTensorList && v.isList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const auto& t : v.toOptionalTensorList()) {
        std::optional<at::Tensor> o = t;
        list.push_back(o ? std::optional(stand_in(*o)) : std::nullopt);
      }
      stack.emplace_back(std::move(list));
    } else {
      stack.push_back(v);
    }
  }
  return stack;
}

void Describe(const at::Tensor& t, MetaOutputs* outputs) {
  OutputTensor o;
  if (t.defined()) {
    o.dtype = t.scalar_type();
    o.sizes = t.sizes().vec();
    o.strides = t.strides().vec();
  }
  outputs->tensors.push_back(std::move(o));
}

}  // namespace

std::shared_ptr<const graph::Trace> TraceDecomposition(const OpInfo& info, Arguments args,
                                                       MetaOutputs* outputs) {
  const Decompositions& table = GetDecompositions();
  if (!table.exists || !info.functional || !table.exists(info.functional_name))
    RaiseMissing(info.name);
  // A decomposition that calls its own operator leads nowhere.
  thread_local std::vector<const OpInfo*> running;
  if (std::find(running.begin(), running.end(), &info) != running.end()) RaiseMissing(info.name);
  running.push_back(&info);
  const auto leave = c10::make_scope_exit([&] { running.pop_back(); });
  graph::Counters::Get().traces.fetch_add(1, std::memory_order_relaxed);
  Tracer tracer;
  Stack stack = Placeholders(info, args, tracer);
  table.run(*info.functional, &stack);
  for (const c10::IValue& v : stack) {
    if (v.isTensorList()) {
      const auto list = v.toTensorVector();
      outputs->per_return.push_back(static_cast<int>(list.size()));
      for (const auto& t : list) {
        tracer.AddOutput(t);
        Describe(t, outputs);
      }
    } else {
      TORCH_CHECK(v.isTensor() || v.isNone(), info.name,
                  ": its decomposition returned something that is no tensor");
      const at::Tensor t = v.isTensor() ? v.toTensor() : at::Tensor();
      outputs->per_return.push_back(-1);
      tracer.AddOutput(t);
      Describe(t, outputs);
    }
  }
  outputs->known = true;
  return tracer.Finish();
}

MetaOutputs RunShapeFunction(const OpInfo& info, const Signature& signature,
                             const std::function<const graph::ArgSpec&(int)>& arg) {
  shlo::Builder builder("shapes");
  ops::Call call(builder, info.name);
  auto placeholder = [&](const graph::TensorSpec& t) {
    return builder.Argument({t.dtype, t.sizes});
  };
  for (size_t i = 0; i < info.args.size(); ++i) {
    if (info.args[i].out) continue;
    ops::Argument a;
    const auto& spec = arg(static_cast<int>(i));
    if (const auto* t = std::get_if<graph::TensorSpec>(&spec.v)) {
      a.v = placeholder(*t);
    } else if (const auto* list =
                   std::get_if<std::vector<std::optional<graph::TensorSpec>>>(&spec.v)) {
      std::vector<shlo::Value> values;
      for (const auto& t : *list) values.push_back(t ? placeholder(*t) : shlo::Value());
      a.v = std::move(values);
    } else if (const auto* n = std::get_if<graph::NumberSpec>(&spec.v)) {
      ops::Number number;
      number.dtype = n->dtype;
      number.constant = n->constant;
      number.operand = builder.Argument({n->dtype, {}});
      a.v = number;
    } else {
      std::visit(
          [&](const auto& v) {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> ||
                          std::is_same_v<T, Dims> || std::is_same_v<T, std::vector<bool>> ||
                          std::is_same_v<T, std::string> || std::is_same_v<T, DType>) {
              a.v = v;
            }
          },
          spec.v);
    }
    call.args.push_back(std::move(a));
  }
  (void)signature;
  MetaOutputs outputs;
  std::vector<graph::TensorType> types;
  try {
    types = info.lowering->options.shape(call);
  } catch (const shlo::BuildError& e) {
    TORCH_CHECK(false, e.what());
  }
  for (const auto& type : types) {
    OutputTensor o;
    if (type.dtype != DType::kInvalid) {
      o.dtype = ToScalarType(type.dtype);
      o.sizes = type.dims;
      o.strides = ContiguousStrides(type.dims);
    }
    outputs.tensors.push_back(std::move(o));
  }
  const auto& returns = info.op.schema().returns();
  for (size_t r = 0; r < returns.size(); ++r) {
    if (info.returns[r] != -1) continue;
    int size = -1;
    const bool list = returns[r].type()->kind() == c10::TypeKind::ListType;
    if (list && returns.size() == 1) size = static_cast<int>(types.size());
    // A list that is returned is as long as the argument that it is the new value of.
    for (size_t i = 0; list && i < info.args.size(); ++i) {
      if (returns[r].name() == info.args[i].name + "_out")
        size = static_cast<int>(call.tensors(static_cast<int>(i)).size());
    }
    outputs.per_return.push_back(size);
  }
  outputs.known = true;
  return outputs;
}

void RaiseMissing(const std::string& name) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "The operator '", name,
      "' is not implemented on device tpu: it has neither a lowering nor a PyTorch "
      "decomposition. `python -m torch_tpu.operators` lists what is; `with "
      "torch.tpu.cpu_fallback():` runs missing "
      "operators on the CPU.");
}

}  // namespace torch_tpu::device
