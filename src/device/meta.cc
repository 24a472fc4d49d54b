// Shapes, dtypes, strides and error messages from PyTorch's Meta kernels.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TypeProperties.h>

#include <algorithm>
#include <functional>

#include "device/engine.h"
#include "device/errors.h"
#include "device/make_entry.h"
#include "device/structured_meta.h"

namespace torch_tpu::device {
namespace {

using torch::jit::Stack;

at::Tensor MetaLike(const at::Tensor& t) {
  // Host numbers stay: Meta kernels take them beside Meta tensors, and Python ones read a wrapped
  // number's value.
  if (!t.defined() || (t.device().is_cpu() && t.dim() == 0)) return t;
  return at::detail::empty_strided_meta(t.sizes(), t.strides(), t.scalar_type());
}

// The elements that a storage for this layout has.
int64_t Extent(const at::Tensor& t) {
  int64_t last = 0;
  for (int64_t d = 0; d < t.dim(); ++d) last += (t.size(d) - 1) * t.stride(d);
  return t.numel() == 0 ? 0 : last + 1;
}

// A CPU tensor of zeros in the same layout: kernels below the dispatcher may read it as they read
// the caller's, without asking for strides.
at::Tensor CpuLike(const at::Tensor& t) {
  if (!t.defined() || t.device().is_cpu()) return t;
  return at::zeros({Extent(t)}, t.options().device(at::kCPU)).as_strided(t.sizes(), t.strides());
}

c10::IValue StandIn(const ArgInfo& arg, const c10::IValue& v, c10::DeviceType device,
                    const std::function<at::Tensor(const at::Tensor&)>& like) {
  if (v.isTensor()) return like(v.toTensor());
  if (v.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& t : v.toTensorVector()) list.push_back(like(t));
    return list;
  }
  if (arg.kind == ArgKind::kOptTensorList && v.isList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const auto& t : v.toOptionalTensorList()) {
      std::optional<at::Tensor> o = t;
      list.push_back(o ? std::optional(like(*o)) : std::nullopt);
    }
    return list;
  }
  if (v.isDevice()) return c10::Device(device);
  if (v.isGenerator()) return c10::IValue();
  return v;
}

// Runs `op` on Meta arguments; false when PyTorch has no such kernel.
bool CallMeta(const c10::OperatorHandle& op, Stack* stack) {
  at::AutoDispatchBelowADInplaceOrView guard;
  if (const c10::KernelFunction* kernel = FindStructuredMeta(op.operator_name())) {
    kernel->callBoxed(op, c10::DispatchKeySet(c10::DispatchKey::Meta), stack);
    return true;
  }
  if (!op.hasComputedKernelForDispatchKey(c10::DispatchKey::Meta)) return false;
  try {
    op.callBoxed(stack);
  } catch (const c10::NotImplementedError&) {
    return false;
  }
  return true;
}

void Describe(const Stack& stack, MetaOutputs* out) {
  auto add = [&](const at::Tensor& t) {
    OutputTensor o;
    if (t.defined()) {
      o.dtype = t.scalar_type();
      o.sizes = t.sizes().vec();
      o.strides = t.strides().vec();
    }
    out->tensors.push_back(std::move(o));
  };
  for (const auto& v : stack) {
    if (v.isTensorList()) {
      const auto list = v.toTensorVector();
      out->per_return.push_back(static_cast<int>(list.size()));
      for (const auto& t : list) add(t);
    } else if (v.isTensor() || v.isNone()) {
      out->per_return.push_back(-1);
      add(v.isTensor() ? v.toTensor() : at::Tensor());
    } else {
      out->values.push_back(v);
    }
  }
}

// PyTorch's promotion over tensors and positional Scalars.
DType CommonDType(const OpInfo& info, const Stack& meta_args) try {
  at::native::ResultTypeState state = {};
  bool any = false;
  const auto& schema_args = info.op.schema().arguments();
  auto add = [&](const at::Tensor& t) {
    if (!t.defined()) return;
    state = at::native::update_result_type_state(t, state);
    any = true;
  };
  for (size_t i = 0; i < meta_args.size(); ++i) {
    const auto& v = meta_args[i];
    if (info.args[i].out) continue;
    if (v.isTensor()) {
      add(v.toTensor());
    } else if (v.isTensorList()) {
      for (const auto& t : v.toTensorVector()) add(t);
    } else if (info.args[i].kind == ArgKind::kNumber && v.isScalar() &&
               !schema_args[i].kwarg_only()) {
      auto number =
          at::scalar_tensor(v.toScalar(), at::device(at::kMeta).dtype(v.toScalar().type()));
      number.unsafeGetTensorImpl()->set_wrapped_number(true);
      add(number);
    }
  }
  return any ? ToDType(at::native::result_type(state)) : DType::kInvalid;
} catch (const c10::Error&) {  // float8 promotes with nothing; operators that mix it do not promote
  return DType::kInvalid;
}

// A functional schema may have factory options that out= lacks (dtype, layout, device, pin_memory):
// None for each.
Stack FunctionalStack(const OpInfo& info, const Stack& meta_args) {
  c10::IValue out_dtype;  // the result takes the dtype of out=
  for (size_t i = 0; i < info.args.size(); ++i) {
    if (info.args[i].out && meta_args[i].isTensor()) {
      out_dtype = static_cast<int64_t>(meta_args[i].toTensor().scalar_type());
    }
  }
  Stack stack;
  size_t j = 0;
  for (const auto& a : info.functional->schema().arguments()) {
    while (j < info.args.size() && info.args[j].out) ++j;
    if (j < info.args.size() && info.args[j].name == a.name()) {
      stack.push_back(meta_args[j++]);
    } else if (a.name() == "device") {
      stack.emplace_back(c10::Device(c10::DeviceType::Meta));
    } else if (a.name() == "dtype") {
      stack.push_back(out_dtype);
    } else {
      stack.emplace_back();
    }
  }
  return stack;
}

// An in-place result must fit the dtype of the tensor that it goes into.
void CheckCasts(const OpInfo& info, Arguments args, const MetaOutputs& meta) {
  size_t k = meta.tensors.size() - std::min(meta.tensors.size(), info.written.size());
  for (int w : info.written) {
    if (!args[w].isTensor() || k >= meta.tensors.size()) return;
    const at::Tensor& target = args[w].toTensor();
    const c10::ScalarType result = meta.tensors[k++].dtype;
    if (!target.defined() || result == c10::ScalarType::Undefined) continue;
    TORCH_CHECK(info.training >= 0 || c10::canCast(result, target.scalar_type()), "result type ",
                result, " can't be cast to the desired output type ", target.scalar_type());
  }
}

// Whether each result has the sizes and the dtype of the tensor that it goes into.
bool FitsWritten(const OpInfo& info, Arguments args, const MetaOutputs& meta) {
  if (meta.tensors.size() < info.written.size()) return false;
  const OutputTensor* result = meta.tensors.data() + (meta.tensors.size() - info.written.size());
  return std::all_of(info.written.begin(), info.written.end(), [&](int w) {
    const OutputTensor& r = *result++;
    if (!args[w].isTensor() || !args[w].toTensor().defined()) return false;
    const at::Tensor& target = args[w].toTensor();
    return c10::IntArrayRef(r.sizes) == target.sizes() && r.dtype == target.scalar_type();
  });
}

// The mutating overload's own Meta kernel says in PyTorch's words what is wrong with its arguments.
// It is asked only then: many are Python, and the first call of one imports torch._dynamo.
void CallOwnMeta(const OpInfo& info, Stack meta_args) {
  if (info.functional->operator_name() != info.op.operator_name())
    (void)CallMeta(info.op, &meta_args);
}

bool HasEmptyTensor(Arguments args) {
  return std::any_of(args.begin(), args.end(), [](const c10::IValue& v) {
    return v.isTensor() && v.toTensor().defined() && v.toTensor().numel() == 0;
  });
}

// What CPU says of the zeros themselves, and not of the caller's tensors.
bool IsOfZeros(const c10::Error& error) {
  return std::string_view(error.what_without_backtrace()).starts_with("ZeroDivisionError");
}

// Runs the operator on CPU tensors of zeros in the same layouts; nothing when it is too large or
// the CPU has no such kernel.
std::optional<Stack> RunOnZeros(const OpInfo& info, Arguments args) {
  constexpr int64_t kMaximum = int64_t{1} << 22;  // elements; more would take long
  Stack stack;
  int64_t elements = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    stack.push_back(StandIn(info.args[i], args[i], c10::DeviceType::CPU, [&](const at::Tensor& t) {
      if (t.defined()) elements += Extent(t);
      return elements > kMaximum ? t : CpuLike(t);
    }));
  }
  if (elements > kMaximum || !info.op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU))
    return std::nullopt;
  at::AutoDispatchBelowADInplaceOrView guard;
  try {
    info.op.callBoxed(&stack);
  } catch (const c10::Error& error) {
    if (IsOfZeros(error)) return std::nullopt;
    throw;
  }
  return stack;
}

MetaOutputs AskMetaKernels(const OpInfo& info, Arguments args) {
  Stack meta_args;
  for (size_t i = 0; i < args.size(); ++i) {
    meta_args.push_back(StandIn(info.args[i], args[i], c10::DeviceType::Meta, MetaLike));
  }
  MetaOutputs out;
  out.common = CommonDType(info, meta_args);
  // A lowering that brings its own shape function knows better than a Meta kernel that refuses or
  // guesses.
  if (info.lowering != nullptr && info.lowering->options.shape != nullptr) return out;
  if (!info.functional) {
    Stack stack = meta_args;
    out.known = CallMeta(info.op, &stack);
    if (out.known && info.num_fresh_returns > 0) Describe(stack, &out);
    return out;
  }
  Stack stack = FunctionalStack(info, meta_args);
  try {
    out.known = CallMeta(*info.functional, &stack);
  } catch (const std::exception&) {
    if (info.form == Form::kMutating) CallOwnMeta(info, meta_args);
    // Some Meta kernels refuse tensors without elements that CPU takes.
    if (info.form != Form::kFunctional || !HasEmptyTensor(args)) throw;
    std::optional<Stack> results = RunOnZeros(info, args);
    if (!results) throw;
    stack = std::move(*results);
    out.known = true;
  }
  if (out.known) Describe(stack, &out);
  if (info.form == Form::kMutating) {
    if (!out.known || !FitsWritten(info, args, out)) CallOwnMeta(info, meta_args);
    CheckCasts(info, args, out);
  }
  return out;
}

}  // namespace

MetaOutputs RunMeta(const OpInfo& info, Arguments args) try {
  return AskMetaKernels(info, args);
} catch (const c10::OutOfMemoryError&) {
  throw;
} catch (const std::exception&) {
  const std::optional<Stack> results = RunOnZeros(info, args);
  if (!results || info.form != Form::kFunctional) throw;
  MetaOutputs out;
  Stack meta_args;
  for (size_t i = 0; i < args.size(); ++i) {
    meta_args.push_back(StandIn(info.args[i], args[i], c10::DeviceType::Meta, MetaLike));
  }
  out.common = CommonDType(info, meta_args);
  Describe(*results, &out);
  out.known = true;
  return out;
}

void RaiseAsCpuWould(const OpInfo& info, Arguments args) { (void)RunOnZeros(info, args); }

bool PrepareOut(const OpInfo& info, Arguments args, const MetaOutputs& meta) {
  bool resized = false;
  size_t k = 0;
  for (size_t i = 0; i < info.args.size(); ++i) {
    if (!info.args[i].out) continue;
    auto prepare = [&](const at::Tensor& out) {
      if (k >= meta.tensors.size()) return;
      const OutputTensor& result = meta.tensors[k++];
      if (result.dtype == c10::ScalarType::Undefined || !out.defined()) return;
      TORCH_CHECK(out.device().is_privateuseone(),
                  "Expected all tensors to be on the same device, but found at least "
                  "two devices, tpu:0 and ",
                  out.device(), "! (when checking argument out of ", info.name, ")");
      TORCH_CHECK(c10::canCast(result.dtype, out.scalar_type()), "result type ", result.dtype,
                  " can't be cast to the desired output type ", out.scalar_type());
      if (out.sizes() == c10::IntArrayRef(result.sizes)) return;
      at::native::resize_output(out, result.sizes);
      if (out.is_contiguous() && c10::IntArrayRef(result.strides) != out.strides()) {
        out.as_strided_(result.sizes, result.strides);
      }
      resized = true;
    };
    if (args[i].isTensorList()) {
      for (const at::Tensor& t : args[i].toTensorVector()) prepare(t);
    } else {
      prepare(args[i].toTensor());
    }
  }
  return resized;
}

}  // namespace torch_tpu::device
