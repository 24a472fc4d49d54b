// The table of host operators, and how they run.
#include "device/host_ops.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>

#include "device/boxed.h"
#include "device/errors.h"
#include "device/generator.h"
#include "device/make_entry.h"
#include "device/tracer.h"
#include "device/use_counts.h"

namespace torch_tpu::device {
namespace {

constexpr const char* kNonsymmetric =
    "the eigenvalues of a matrix that is not symmetric need LAPACK's QR iteration, which StableHLO "
    "has no operation for";
constexpr const char* kBunchKaufman =
    "its factors are those of LAPACK's Bunch-Kaufman pivoting, which StableHLO has no operation "
    "for";

constexpr HostOperator kTable[] = {
    {"_linalg_eigvals", kNonsymmetric},
    {"linalg_eig", kNonsymmetric},
    {"linalg_eigvals", kNonsymmetric},
    {"linalg_ldl_factor_ex", kBunchKaufman},
    {"linalg_ldl_solve", kBunchKaufman},
    {"linalg_lstsq",
     "which results it has and their sizes depend on the rank that LAPACK's driver finds"},
};

UseCounts& Counts() {
  static auto* counts = new UseCounts();
  return *counts;
}

void CountAndNotify(const HostOperator& host) {
  if (!Counts().Add(host.base)) return;
  Warn("aten::" + std::string(host.base) + " runs on the host, because " + host.reason +
       ". Each use waits for its tensors and copies them there and back. This notice comes once.");
}

at::Tensor OnHost(const OpInfo& info, const ArgInfo& arg, const at::Tensor& t) {
  if (!t.defined()) return t;
  TORCH_CHECK(
      t.device().is_privateuseone() || (t.dim() == 0 && !arg.written),
      "Expected all tensors to be on the same device, but found at least two devices, tpu:0 "
      "and ",
      t.device(), "! (when checking argument ", arg.name, " of ", info.name, ")");
  if (arg.out) return at::empty_strided(t.sizes(), t.strides(), t.options().device(at::kCPU));
  return t.cpu();
}

// Seeded by the next draw of the device's generator, so that manual_seed and saved states hold.
at::Generator HostGenerator(const c10::IValue& v) {
  const auto state =
      NextRandomState(v.isNone() ? std::nullopt : std::optional<at::Generator>(v.toGenerator()));
  const uint64_t mixed = (state[0] ^ state[1]) * 0x9E3779B97F4A7C15u;
  return at::detail::createCPUGenerator(mixed ^ (mixed >> 32));
}

c10::IValue ArgumentOnHost(const OpInfo& info, const ArgInfo& arg, const c10::IValue& v) {
  if (arg.kind == ArgKind::kGenerator) return HostGenerator(v);
  if (v.isDevice()) return c10::Device(c10::DeviceType::CPU);
  if (v.isTensor()) return OnHost(info, arg, v.toTensor());
  if (v.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& t : v.toTensorVector()) list.push_back(OnHost(info, arg, t));
    return list;
  }
  if (arg.kind == ArgKind::kOptTensorList && v.isList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor> t : v.toOptionalTensorList())
      list.push_back(t ? std::optional(OnHost(info, arg, *t)) : std::nullopt);
    return list;
  }
  return v;
}

// Gives `target` the values of `host`; and its sizes and strides where the operator resized it.
void WriteBack(const at::Tensor& target, const at::Tensor& host) {
  if (!target.defined()) return;
  if (target.sizes() != host.sizes()) {
    target.resize_(host.sizes());
    if (host.is_non_overlapping_and_dense()) target.as_strided_(host.sizes(), host.strides());
  }
  target.copy_(host);
}

c10::IValue ResultOnDevice(const c10::IValue& v) {
  const auto move = [](const at::Tensor& t) {
    return t.defined() ? t.to(c10::Device(c10::DeviceType::PrivateUse1, 0)) : t;
  };
  if (v.isTensor()) return move(v.toTensor());
  if (!v.isTensorList()) return v;
  c10::List<at::Tensor> list;
  for (const at::Tensor& t : v.toTensorVector()) list.push_back(move(t));
  return list;
}

}  // namespace

std::span<const HostOperator> HostOperators() { return kTable; }

const HostOperator* FindHostOperator(const c10::OperatorName& name) {
  std::string_view base = name.name;
  constexpr std::string_view kAten = "aten::";
  if (base.substr(0, kAten.size()) != kAten) return nullptr;
  base.remove_prefix(kAten.size());
  const auto named = [&](std::string_view b) {
    return std::find_if(std::begin(kTable), std::end(kTable),
                        [&](const HostOperator& host) { return b == host.base; });
  };
  auto found = named(base);
  if (found == std::end(kTable) && base.back() == '_')
    found = named(base.substr(0, base.size() - 1));
  return found == std::end(kTable) ? nullptr : found;
}

void RunOnHost(const HostOperator& host, const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const OpInfo& info = InfoOf(op);
  TORCH_CHECK_NOT_IMPLEMENTED(
      Tracer::Current() == nullptr, "The operator '", info.name,
      "' cannot be part of a captured program: it runs on the host, because ", host.reason,
      ". Compute it outside of what is captured and pass its results in.");
  CountAndNotify(host);
  at::AutoDispatchBelowADInplaceOrView below;
  const size_t first = stack->size() - info.args.size();
  torch::jit::Stack on_host;
  for (size_t i = 0; i < info.args.size(); ++i)
    on_host.push_back(ArgumentOnHost(info, info.args[i], (*stack)[first + i]));
  torch::jit::Stack results = on_host;  // holds the same tensors as `on_host`
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &results);
  for (int w : info.written) {
    const c10::IValue& target = (*stack)[first + w];
    if (target.isTensor()) WriteBack(target.toTensor(), on_host[w].toTensor());
    if (!target.isTensorList()) continue;
    const auto targets = target.toTensorVector(), values = on_host[w].toTensorVector();
    for (size_t i = 0; i < targets.size(); ++i) WriteBack(targets[i], values[i]);
  }
  for (size_t r = 0; r < results.size(); ++r) {
    const int target = info.returns[r];
    results[r] = target >= 0 ? (*stack)[first + target] : ResultOnDevice(results[r]);
  }
  stack->resize(first);
  for (c10::IValue& v : results) stack->push_back(std::move(v));
}

std::map<std::string, int64_t> HostOperatorCounts() { return Counts().Get(); }

}  // namespace torch_tpu::device
