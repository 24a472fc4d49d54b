// Walking arguments: signatures, and building the CallSpec of a new one.
#include "device/make_entry.h"

#include <ATen/core/Tensor.h>

#include "device/decompose.h"
#include "device/engine.h"
#include "device/errors.h"
#include "device/precision.h"
#include "ops/index_padded.h"

namespace torch_tpu::device {
namespace {

void CheckDevice(const OpInfo& info, const at::Tensor& t) {
  TORCH_CHECK(t.device().is_privateuseone(),
              "Expected all tensors to be on the same device, but found at least two "
              "devices, tpu:0 and ",
              t.device(), "! (when checking the arguments of ", info.name, ")");
}

}  // namespace

void WriteTensor(const OpInfo& info, const ArgInfo& arg, const at::Tensor& t, Signature* s) {
  if (!t.defined()) return s->AddNone();
  if (t.device().is_privateuseone()) {
    arg.out ? s->AddOutput(*t.unsafeGetTensorImpl()) : s->AddTensor(*t.unsafeGetTensorImpl());
    return;
  }
  if (t.device().is_cpu() && t.dim() == 0 && !arg.written) {
    s->AddHostNumber(t);
    return;
  }
  CheckDevice(info, t);
}

void WriteNumber(const OpInfo& info, const ArgInfo& arg, const at::Scalar& n, Signature* s) {
  // A decomposition computes with its numbers in Python, so they are part of its program.
  const bool decomposed = info.lowering == nullptr && !info.foreach;
  const bool integer = arg.static_integer && n.isIntegral(/*includeBool=*/false);
  s->AddNumber(n, arg.static_number || integer || decomposed);
}

namespace {

void WriteList(const OpInfo& info, const ArgInfo& arg, const c10::IValue& v, Signature* s) {
  if (arg.kind == ArgKind::kOptTensorList) {
    auto list = v.toOptionalTensorList();
    s->AddListBegin(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      const std::optional<at::Tensor> t = list.get(i);
      t ? WriteTensor(info, arg, *t, s) : s->AddNone();
    }
  } else if (arg.kind == ArgKind::kTensorList) {
    const auto list = v.toTensorList();
    s->AddListBegin(list.size());
    for (size_t i = 0; i < list.size(); ++i) WriteTensor(info, arg, list.get(i), s);
  } else {
    const auto list = v.toListRef();
    s->AddListBegin(list.size());
    for (const auto& e : list) WriteNumber(info, arg, e.toScalar(), s);
  }
}

void WriteArgument(const OpInfo& info, const ArgInfo& arg, const c10::IValue& v, Signature* s) {
  if (v.isNone()) return s->AddNone();
  switch (arg.kind) {
    case ArgKind::kTensor:
      return WriteTensor(info, arg, v.toTensor(), s);
    case ArgKind::kTensorList:
    case ArgKind::kOptTensorList:
      return WriteList(info, arg, v, s);
    case ArgKind::kNumberList:
      if (v.isDoubleList()) {
        const auto list = v.toDoubleVector();
        s->AddListBegin(list.size());
        for (double d : list) WriteNumber(info, arg, d, s);
        return;
      }
      return WriteList(info, arg, v, s);
    case ArgKind::kNumber:
      return WriteNumber(info, arg, v.toScalar(), s);
    case ArgKind::kInts: {
      if (v.isInt()) return s->AddInt(v.toInt());
      const auto list = v.toIntVector();
      return s->AddInts(list);
    }
    case ArgKind::kBools: {
      const auto list = v.toBoolList();
      s->AddListBegin(list.size());
      for (size_t i = 0; i < list.size(); ++i) s->AddInt(list.get(i));
      return;
    }
    case ArgKind::kInt:
      return s->AddInt(v.toInt());
    case ArgKind::kBool:
      return s->AddInt(v.toBool());
    case ArgKind::kDType:
      return s->AddInt(v.toInt());
    case ArgKind::kString:
      return s->AddString(v.toStringView());
    case ArgKind::kGenerator:
      return s->AddNone();
    case ArgKind::kIgnored:
      // Layout and memory format change the result's strides; devices and pinning nothing.
      return v.isInt() ? s->AddInt(v.toInt()) : s->AddNone();
  }
}

// Turns arguments into ArgSpecs, in the order in which WriteSignature walked them.
class SpecBuilder {
 public:
  SpecBuilder(const OpInfo& info, Arguments args, const Signature& signature)
      : info_(info), signature_(signature) {
    for (size_t i = 0; i < args.size(); ++i) Walk(info.args[i], args[i]);
  }

  // The spec of argument i (an out= argument gives none).
  const graph::ArgSpec& arg(int i) const { return specs_[i]; }
  // Uses of argument i, one a tensor of a list; -1 for an undefined one.
  const std::vector<int>& uses(int i) const { return uses_[i]; }

 private:
  void Walk(const ArgInfo& arg, const c10::IValue& v) {
    graph::ArgSpec spec;
    uses_.emplace_back();
    if (!v.isNone()) Fill(arg, v, &spec);
    specs_.push_back(std::move(spec));
  }

  std::optional<graph::TensorSpec> Tensor(const at::Tensor& t) {
    if (!t.defined()) {
      uses_.back().push_back(-1);
      return std::nullopt;
    }
    uses_.back().push_back(next_use_);
    if (!t.device().is_privateuseone()) ++next_number_;
    return signature_.SpecOf(next_use_++);
  }

  graph::NumberSpec Number() { return signature_.NumberSpecOf(next_number_++); }

  void Fill(const ArgInfo& arg, const c10::IValue& v, graph::ArgSpec* spec) {
    switch (arg.kind) {
      case ArgKind::kTensor:
        if (auto t = Tensor(v.toTensor())) spec->v = std::move(*t);
        return;
      case ArgKind::kTensorList:
      case ArgKind::kOptTensorList: {
        std::vector<std::optional<graph::TensorSpec>> list;
        if (arg.kind == ArgKind::kTensorList) {
          const auto tensors = v.toTensorList();
          for (size_t i = 0; i < tensors.size(); ++i) list.push_back(Tensor(tensors.get(i)));
        } else {
          const auto tensors = v.toOptionalTensorList();
          for (size_t i = 0; i < tensors.size(); ++i)
            list.push_back(Tensor(tensors.get(i).value_or(at::Tensor())));
        }
        spec->optional_list = arg.kind == ArgKind::kOptTensorList;
        spec->v = std::move(list);
        return;
      }
      case ArgKind::kNumber:
        spec->v = Number();
        return;
      case ArgKind::kNumberList: {
        std::vector<graph::NumberSpec> list;
        const size_t n = v.isDoubleList() ? v.toDoubleList().size() : v.toListRef().size();
        for (size_t i = 0; i < n; ++i) list.push_back(Number());
        spec->v = std::move(list);
        return;
      }
      case ArgKind::kInts:
        spec->v = v.isInt() ? Dims{v.toInt()} : Dims(v.toIntVector());
        return;
      case ArgKind::kBools: {
        std::vector<bool> list;
        for (bool b : v.toBoolList()) list.push_back(b);
        spec->v = std::move(list);
        return;
      }
      case ArgKind::kInt:
        spec->v = v.toInt();
        return;
      case ArgKind::kBool:
        spec->v = v.toBool();
        return;
      case ArgKind::kDType:
        spec->v = CheckedDType(static_cast<c10::ScalarType>(v.toInt()));
        return;
      case ArgKind::kString:
        spec->v = std::string(v.toStringView());
        return;
      case ArgKind::kGenerator:
      case ArgKind::kIgnored:
        return;
    }
  }

  const OpInfo& info_;
  const Signature& signature_;
  int next_use_ = 0;
  int next_number_ = 0;
  std::vector<graph::ArgSpec> specs_;
  std::vector<std::vector<int>> uses_;
};

graph::TensorType TypeOf(const OutputTensor& o) { return {CheckedDType(o.dtype), o.sizes}; }

OutputTensor LikeUse(const Signature& signature, int use) {
  const auto& impl = *signature.uses()[use].impl;
  OutputTensor o;
  o.dtype = c10::typeMetaToScalarType(impl.dtype());
  o.sizes.assign(impl.sizes().begin(), impl.sizes().end());
  o.strides.assign(impl.strides().begin(), impl.strides().end());
  return o;
}

// Argument of the base operator for element `i` of a foreach call.
graph::ArgSpec ForeachArgument(const ops::ForeachArg& arg, const SpecBuilder& specs, size_t i) {
  using Kind = ops::ForeachArg;
  graph::ArgSpec out;
  if (arg.kind == Kind::kNumber) {
    graph::NumberSpec n;
    n.dtype = DType::kS64;
    n.constant = arg.value;
    out.v = n;
  } else if (arg.kind == Kind::kBool) {
    out.v = arg.value != 0;
  } else if (arg.kind == Kind::kShared) {
    return specs.arg(arg.position);
  } else if (arg.kind == Kind::kElement) {
    const graph::ArgSpec& list = specs.arg(arg.position);
    if (const auto* numbers = std::get_if<std::vector<graph::NumberSpec>>(&list.v)) {
      out.v = numbers->at(i);
    } else {
      const auto& tensors = std::get<std::vector<std::optional<graph::TensorSpec>>>(list.v);
      if (tensors.at(i)) out.v = *tensors.at(i);
    }
  }
  return out;
}

// Assigns results to fresh outputs and written arguments, in the functional operator's order of
// returns.
class OutputPlanner {
 public:
  OutputPlanner(const OpInfo& info, const Signature& signature, const SpecBuilder& specs,
                const MetaOutputs& meta, Entry* entry, bool writes)
      : info_(info),
        signature_(signature),
        specs_(specs),
        meta_(meta),
        entry_(entry),
        writes_(writes) {}

  // The outputs of the whole call (element `i` of every list only, when i >= 0).
  std::vector<graph::OutputSpec> Plan(int element) {
    std::vector<graph::OutputSpec> out;
    size_t k = 0;
    if (info_.form != Form::kOut) {
      for (int r = 0; r < info_.num_fresh_returns; ++r) {
        const int n = meta_.per_return.empty() ? -1 : meta_.per_return[r];
        for (int i = 0; i < std::abs(n); ++i, ++k) {
          if (element < 0 || i == element) out.push_back(Fresh(static_cast<int>(k)));
        }
      }
    }
    for (int w : info_.written) {
      const auto& uses = specs_.uses(w);
      for (size_t i = 0; i < uses.size(); ++i, ++k) {
        if (element < 0 || static_cast<int>(i) == element) out.push_back(Write(uses[i], k));
      }
    }
    return out;
  }

 private:
  graph::OutputSpec Fresh(int k) {
    const OutputTensor& o = meta_.tensors.at(k);
    if (o.dtype == c10::ScalarType::Undefined) {
      graph::OutputSpec none;
      none.kind = graph::OutputSpec::kNone;
      return none;
    }
    entry_->slots.push_back({false, k});
    return FreshOutput(TypeOf(o), o.strides);
  }

  graph::OutputSpec Write(int use, size_t k) {
    graph::OutputSpec none;
    none.kind = graph::OutputSpec::kNone;
    if (use < 0 || !writes_) return none;
    const OutputTensor target = LikeUse(signature_, use);
    // Statistics that the schema does not return keep their own type.
    const bool described =
        k < meta_.tensors.size() && meta_.tensors[k].dtype != c10::ScalarType::Undefined;
    graph::TensorType type = TypeOf(described ? meta_.tensors[k] : target);
    if (described && type.dims != target.sizes) type.dims = target.sizes;
    entry_->slots.push_back({true, use});
    return WriteOutput(type, signature_, use);
  }

  const OpInfo& info_;
  const Signature& signature_;
  const SpecBuilder& specs_;
  const MetaOutputs& meta_;
  Entry* entry_;
  bool writes_;  // false: the written arguments stay as they are (running statistics in evaluation)
};

size_t ForeachSize(const OpInfo& info, const SpecBuilder& specs) {
  for (size_t i = 0; i < info.args.size(); ++i) {
    if (info.args[i].kind == ArgKind::kTensorList && !info.args[i].out)
      return specs.uses(static_cast<int>(i)).size();
  }
  return 0;
}

// A random lowering draws nothing when the number that it scales with (a dropout probability) is
// zero.
bool IsRandom(const OpInfo& info, const SpecBuilder& specs) {
  const auto& options = info.lowering->options;
  if (!options.random || options.zero_draws_nothing < 0) return options.random;
  const auto* number = std::get_if<graph::NumberSpec>(&specs.arg(options.zero_draws_nothing).v);
  return number == nullptr || !number->constant || *number->constant != 0.0;
}

void BuildForeach(const OpInfo& info, const SpecBuilder& specs, OutputPlanner& planner,
                  DType common, graph::CallSpec* spec) {
  const auto& form = *info.foreach;
  const size_t n = ForeachSize(info, specs);
  for (size_t i = 0; i < n; ++i) {
    graph::SubCall call;
    call.lowering = form.lowering;
    call.common = common;
    for (const ops::ForeachArg& arg : form.args) {
      call.args.push_back(ForeachArgument(arg, specs, i));
    }
    call.outputs = planner.Plan(static_cast<int>(i));
    call.random = form.lowering->options.random;
    spec->calls.push_back(std::move(call));
  }
}

}  // namespace

void WriteSignature(const OpInfo& info, Arguments args, Signature* signature) {
  signature->AddMode(ModeBits(info.precision));
  for (size_t i = 0; i < info.args.size(); ++i)
    WriteArgument(info, info.args[i], args[i], signature);
  signature->Finish();
}

std::unique_ptr<Entry> MakeEntry(OpInfo& info, Arguments args, const Signature& signature,
                                 MetaOutputs meta) {
  auto entry = std::make_unique<Entry>();
  auto spec = std::make_shared<graph::CallSpec>();
  spec->name = info.name;
  SpecBuilder specs(info, args, signature);
  std::shared_ptr<const graph::Trace> trace;
  if (info.lowering == nullptr && !info.foreach) {
    MetaOutputs traced;
    trace = TraceDecomposition(info, args, &traced);
    if (!meta.known) meta = std::move(traced);
  }
  if (!meta.known && info.lowering != nullptr && info.lowering->options.shape != nullptr) {
    meta = RunShapeFunction(info, signature,
                            [&](int i) -> const graph::ArgSpec& { return specs.arg(i); });
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      meta.known || info.num_fresh_returns == 0, info.name,
      ": PyTorch has no Meta kernel for it and the lowering declares no shapes");
  entry->fresh.assign(meta.tensors.begin(), meta.tensors.end());
  entry->fresh_per_return = meta.per_return;
  entry->values = meta.values;
  const bool writes = info.training < 0 || args[info.training].toBool();
  OutputPlanner planner(info, signature, specs, meta, entry.get(), writes);
  if (info.foreach) {
    BuildForeach(info, specs, planner, meta.common, spec.get());
  } else {
    graph::SubCall call;
    call.lowering = info.lowering;
    call.trace = trace;
    call.common = meta.common;
    for (size_t i = 0; i < info.args.size(); ++i) {
      if (!info.args[i].out) call.args.push_back(specs.arg(static_cast<int>(i)));
    }
    call.outputs = planner.Plan(-1);
    call.random = info.lowering != nullptr && IsRandom(info, specs);
    for (const auto& padded : ops::PaddedOutputs(info.functional_name)) {
      const int at = padded.dim_argument;
      const bool named = at >= 0 && args[at].isInt();
      entry->padded.push_back({padded.output, named ? args[at].toInt() : 0});
    }
    if (!entry->padded.empty()) call.outputs.push_back(FreshOutput({DType::kS64, {}}, {}));
    spec->calls.push_back(std::move(call));
  }
  FinishSpec(spec.get(), signature);
  if (info.precision) WarnOfPrecision(spec->precision, spec->target == ops::Target::kCpu);
  entry->spec = std::move(spec);
  return entry;
}

}  // namespace torch_tpu::device
