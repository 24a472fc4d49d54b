// The hot path from the dispatcher's stack to a launch and back.
#include "device/boxed.h"

#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>

#include <algorithm>

#include "device/engine.h"
#include "device/errors.h"
#include "device/indexing.h"
#include "device/make_entry.h"
#include "device/mode.h"
#include "device/tracer.h"

namespace torch_tpu::device {
namespace {

Decompositions& MutableDecompositions() {
  static auto* d = new Decompositions();
  return *d;
}

std::optional<at::Generator> GeneratorOf(const OpInfo& info, Arguments args) {
  if (info.generator < 0 || !args[info.generator].isGenerator()) return std::nullopt;
  return args[info.generator].toGenerator();
}

// Operators that PyTorch lets through with lazily conjugated or negated arguments (mm and
// relatives) get them resolved: a lowering sees plain values.
void ResolveLazyArguments(const OpInfo& info, torch::jit::Stack* stack) {
  const auto resolve = [](const at::Tensor& t) { return t.resolve_conj().resolve_neg(); };
  const size_t first = stack->size() - info.args.size();
  for (size_t i = 0; i < info.args.size(); ++i) {
    c10::IValue& v = (*stack)[first + i];
    if (info.args[i].written) continue;
    if (v.isTensor()) {
      if (IsLazy(v.toTensor())) v = resolve(v.toTensor());
    } else if (v.isTensorList()) {
      c10::List<at::Tensor> list = v.toTensorList();
      for (size_t k = 0; k < list.size(); ++k) {
        if (IsLazy(list.get(k))) list.set(k, resolve(list.get(k)));
      }
    }
  }
}

void CheckNoOverlap(const OpInfo& info, Arguments args) {
  for (int w : info.written) {
    if (!args[w].isTensor() || !args[w].toTensor().defined()) continue;
    const at::Tensor& target = args[w].toTensor();
    if (target.numel() > 1) at::assert_no_internal_overlap(target);
    for (size_t i = 0; i < args.size(); ++i) {
      if (static_cast<int>(i) == w || !args[i].isTensor()) continue;
      const at::Tensor& other = args[i].toTensor();
      if (other.defined() && other.has_storage() && other.storage().is_alias_of(target.storage())) {
        at::assert_no_partial_overlap(target, other);
      }
    }
  }
}

// nonzero and relatives: results become views of the part that counts, which the host has to read
// first.
void TakeCounted(const Entry& entry, const ValueRef& count_value, std::vector<at::Tensor>* fresh) {
  const Tracer* tracer = Tracer::Current();
  if (tracer != nullptr && tracer->keeps_padding()) return;
  const int64_t count = MakeTensor(count_value, at::kLong, {}, {}).item<int64_t>();
  for (const auto& padded : entry.padded) {
    at::Tensor& t = (*fresh)[padded.output];
    if (t.defined() && t.dim() > 0 && t.size(padded.dim) > count)
      t = t.narrow(padded.dim, 0, count);
  }
}

bool HasEmptyTensor(const OpInfo& info, Arguments args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const c10::IValue& v = args[i];
    if (info.args[i].out || !v.isTensor() || !v.toTensor().defined()) continue;
    if (v.toTensor().numel() == 0) return true;
  }
  return false;
}

// Some operators cast to the dtype of out=, others want exactly the result's: CPU knows which.
bool OutHasOtherDType(const OpInfo& info, Arguments args, const MetaOutputs& meta) {
  size_t k = 0;
  for (size_t i = 0; i < args.size() && k < meta.tensors.size(); ++i) {
    if (!info.args[i].out) continue;
    const auto outs = args[i].isTensorList() ? args[i].toTensorVector()
                                             : std::vector<at::Tensor>{args[i].toTensor()};
    for (size_t o = 0; o < outs.size() && k < meta.tensors.size(); ++o) {
      const c10::ScalarType result = meta.tensors[k++].dtype;
      if (!outs[o].defined() || result == c10::ScalarType::Undefined) continue;
      if (outs[o].scalar_type() != result) return true;
    }
  }
  return false;
}

// As RaiseAsCpuWould, for calls that this device may know and CPU not.
void RaiseIfCpuRefuses(const OpInfo& info, Arguments args) try {
  RaiseAsCpuWould(info, args);
} catch (const c10::NotImplementedError&) {
  return;
}

// out= of an operator whose result size only the program knows, or that writes other arguments as
// well: the form without out=, then a copy.
void RunPaddedOut(const OpInfo& info, torch::jit::Stack* stack) {
  const size_t first = stack->size() - info.args.size();
  torch::jit::Stack inputs;
  std::vector<at::Tensor> outs;
  for (size_t i = 0; i < info.args.size(); ++i) {
    const c10::IValue& v = (*stack)[first + i];
    info.args[i].out ? outs.push_back(v.toTensor()) : inputs.push_back(v);
  }
  (info.without_out ? info.without_out : info.functional)->callBoxed(&inputs);
  for (size_t k = 0; k < outs.size(); ++k) {
    if (inputs[k].toTensor().scalar_type() != outs[k].scalar_type())
      RaiseIfCpuRefuses(info, torch::jit::last(*stack, info.args.size()));
  }
  stack->resize(first);
  for (size_t k = 0; k < outs.size(); ++k) {
    const at::Tensor result = inputs[k].toTensor();
    TORCH_CHECK(c10::canCast(result.scalar_type(), outs[k].scalar_type()), info.name,
                ": result type ", result.scalar_type(),
                " can't be cast to the desired output type ", outs[k].scalar_type());
    at::native::resize_output(outs[k], result.sizes());
    outs[k].copy_(result);
    stack->emplace_back(outs[k]);
  }
}

// sum(x, out=y) and relatives compute in y's dtype unless told otherwise.
void TakeOutDType(const OpInfo& info, torch::jit::Stack* stack) {
  const size_t first = stack->size() - info.args.size();
  c10::IValue& dtype = (*stack)[first + info.out_dtype];
  if (!dtype.isNone()) return;
  for (size_t i = 0; i < info.args.size(); ++i) {
    const c10::IValue& out = (*stack)[first + i];
    if (info.args[i].out && out.isTensor())
      dtype = static_cast<int64_t>(out.toTensor().scalar_type());
  }
}

// True when two written tensors of this call live in one storage.
bool WritesShareStorage(const OpInfo& info, Arguments args) {
  c10::SmallVector<const void*, 32> storages;
  for (int w : info.written) {
    if (args[w].isTensor()) {
      if (args[w].toTensor().defined()) storages.push_back(args[w].toTensor().storage().data());
    } else if (args[w].isTensorList()) {
      for (const at::Tensor& t : args[w].toTensorVector()) storages.push_back(t.storage().data());
    }
  }
  std::sort(storages.begin(), storages.end());
  return std::adjacent_find(storages.begin(), storages.end()) != storages.end();
}

// Element by element, so that each write sees the ones before it: views of one flat buffer.
void CallPerElement(OpInfo& info, torch::jit::Stack* stack) {
  const size_t first = stack->size() - info.args.size();
  size_t n = 0;
  for (int w : info.written) {
    if ((*stack)[first + w].isTensorList()) n = (*stack)[first + w].toTensorList().size();
  }
  for (size_t i = 0; i < n; ++i) {
    torch::jit::Stack element;
    for (size_t a = 0; a < info.args.size(); ++a) {
      const c10::IValue& v = (*stack)[first + a];
      if (v.isTensorList() && v.toTensorList().size() == n) {
        element.emplace_back(c10::List<at::Tensor>({v.toTensorList().get(i)}));
      } else if (info.args[a].kind == ArgKind::kNumberList && !v.isDoubleList() &&
                 v.toListRef().size() == n) {
        element.emplace_back(c10::List<at::Scalar>({v.toListRef()[i].toScalar()}));
      } else {
        element.push_back(v);
      }
    }
    CallBoxed(info, &element);
  }
  c10::SmallVector<c10::IValue, 4> out;
  for (int target : info.returns) {
    if (target >= 0) out.push_back((*stack)[first + target]);
  }
  stack->resize(first);
  for (auto& v : out) stack->push_back(std::move(v));
}

// _foreach_addcdiv.Tensor and relatives: the tensor's entries are numbers, one for each element.
void CallWithNumbers(const OpInfo& info, torch::jit::Stack* stack) {
  const size_t first = stack->size() - info.args.size();
  c10::OperatorName name = info.op.operator_name();
  constexpr std::string_view kTensor = "Tensor";
  name.overload_name.replace(0, kTensor.size(), "ScalarList");
  c10::IValue& entries = (*stack)[first + info.foreach->entries];
  const at::Tensor numbers = entries.toTensor().cpu();
  TORCH_CHECK(numbers.dim() == 1, info.name,
              ": expected packed scalar Tensor to be of dimension 1. "
              "Got ",
              numbers.dim(), " instead.");
  c10::List<at::Scalar> list;
  for (int64_t i = 0; i < numbers.numel(); ++i) list.push_back(numbers[i].item());
  entries = std::move(list);
  c10::Dispatcher::singleton()
      .findSchemaOrThrow(name.name.c_str(), name.overload_name.c_str())
      .callBoxed(stack);
}

Entry* NewEntry(OpInfo& info, Arguments args, Signature* signature) try {
  MetaOutputs meta = RunMeta(info, args);
  if (info.form == Form::kOut && OutHasOtherDType(info, args, meta)) RaiseIfCpuRefuses(info, args);
  if (info.form == Form::kOut && PrepareOut(info, args, meta)) {
    signature->Clear();
    WriteSignature(info, args, signature);
    if (Entry* entry = info.entries.Find(*signature)) return entry;
  }
  // Meta kernels let some calls on tensors without elements pass that PyTorch refuses.
  if (HasEmptyTensor(info, args)) RaiseIfCpuRefuses(info, args);
  auto entry = MakeEntry(info, args, *signature, std::move(meta));
  // Compiled before it is kept, so that a signature that cannot be lowered is refused in the same
  // words each time.
  if (!entry->slots.empty() && Tracer::Current() == nullptr) {
    if (CurrentMode() == Mode::kDefer) {
      ThrowIfError(graph::BuildModule(*entry->spec).status());
    } else {
      (void)entry->ProgramOrThrow(*ValueOrThrow(graph::Runtime::Get()));
    }
  }
  return info.entries.Insert(*signature, std::move(entry));
} catch (const c10::OutOfMemoryError&) {
  throw;
} catch (const std::exception&) {
  RaiseAsCpuWould(info, args);
  throw;
}

void Deliver(const OpInfo& info, const Entry& entry, const Signature& signature,
             std::vector<ValueRef>& results, torch::jit::Stack* stack) {
  std::vector<at::Tensor> fresh(entry.fresh.size());
  for (size_t r = 0; r < entry.slots.size(); ++r) {
    const ResultSlot& slot = entry.slots[r];
    if (slot.write) {
      HandleOf(*signature.uses()[slot.index].impl).Set(std::move(results[r]));
    } else {
      const OutputTensor& o = entry.fresh[slot.index];
      fresh[slot.index] = MakeTensor(std::move(results[r]), o.dtype, o.sizes, o.strides);
    }
  }
  if (!entry.padded.empty()) TakeCounted(entry, results.back(), &fresh);
  const size_t first = stack->size() - info.args.size();
  if (info.returns.size() == 1 && info.returns[0] < 0 && entry.fresh_per_return[0] < 0) {
    stack->resize(first);
    stack->emplace_back(std::move(fresh[0]));
    return;
  }
  c10::SmallVector<c10::IValue, 4> out;
  size_t next = 0, group = 0, value = 0;
  for (int target : info.returns) {
    if (target == OpInfo::kNoTensor) {
      out.push_back(entry.values[value++]);
    } else if (target >= 0) {
      out.push_back((*stack)[first + target]);
    } else if (const int n = entry.fresh_per_return[group++]; n < 0) {
      out.push_back(std::move(fresh[next++]));
    } else {
      c10::List<at::Tensor> list;
      for (int i = 0; i < n; ++i) list.push_back(std::move(fresh[next++]));
      out.push_back(std::move(list));
    }
  }
  stack->resize(first);
  for (auto& v : out) stack->push_back(std::move(v));
}

}  // namespace

bool IsLazy(const at::Tensor& t) {
  constexpr c10::DispatchKeySet kLazy{c10::DispatchKey::Conjugate, c10::DispatchKey::Negative};
  return t.defined() && t.unsafeGetTensorImpl()->key_set().has_any(kLazy);
}

void SetDecompositions(Decompositions d) { MutableDecompositions() = std::move(d); }
const Decompositions& GetDecompositions() { return MutableDecompositions(); }

OpInfo& InfoOf(const c10::OperatorHandle& op) {
  static std::mutex mutex;
  static auto* infos = new std::unordered_map<c10::OperatorName, std::unique_ptr<OpInfo>>();
  std::lock_guard lock(mutex);
  auto& slot = (*infos)[op.operator_name()];
  if (!slot) slot = std::make_unique<OpInfo>(op);
  return *slot;
}

void CallBoxed(OpInfo& info, torch::jit::Stack* stack) {
  ResolveLazyArguments(info, stack);
  std::optional<CountedDim> counted;
  if (info.expands_masks) {
    if (FillThroughMask(info, stack)) return;
    counted = PrepareIndices(info, stack);
  }
  if (info.foreach && info.foreach->entries >= 0) return CallWithNumbers(info, stack);
  const auto arguments = [&] { return torch::jit::last(*stack, info.args.size()); };
  if (info.number_check != nullptr && info.number_check(arguments())) {
    RaiseAsCpuWould(info, arguments());
  }
  if (info.form == Form::kOut && info.out_dtype >= 0) TakeOutDType(info, stack);
  if (info.form == Form::kOut && info.padded) return RunPaddedOut(info, stack);
  if (info.form != Form::kFunctional) CheckNoOverlap(info, arguments());
  if (info.writes_list && WritesShareStorage(info, arguments())) return CallPerElement(info, stack);
  ScratchSignature signature;
  WriteSignature(info, arguments(), &*signature);
  Entry* entry = info.entries.Find(*signature);
  if (entry == nullptr) entry = NewEntry(info, arguments(), &*signature);
  std::vector<ValueRef>& results = signature->results();
  if (!entry->slots.empty()) Execute(*entry, *signature, GeneratorOf(info, arguments()), &results);
  Deliver(info, *entry, *signature, results, stack);
  if (counted) {
    stack->back() = stack->back().toTensor().narrow(counted->dim, 0, counted->count);
  }
}

}  // namespace torch_tpu::device
