// Which aten overloads get the boxed kernel.
#include "device/register.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

#include "device/boxed.h"
#include "device/decompose.h"
#include "device/direct.h"
#include "device/fallback.h"
#include "device/host_ops.h"
#include "device/mode.h"

namespace torch_tpu::device {
namespace {

using c10::DispatchKey;

// The kernel of one overload; what it needs to know of it is worked out at the first call.
class BoxedKernel final : public c10::OperatorKernel {
 public:
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    OpInfo* info = info_.load(std::memory_order_acquire);
    if (info == nullptr) {
      info = &InfoOf(op);
      info_.store(info, std::memory_order_release);
    }
    CallBoxed(*info, stack);
  }

 private:
  std::atomic<OpInfo*> info_{nullptr};
};

// The kernel of an overload that runs on the host.
class HostKernel final : public c10::OperatorKernel {
 public:
  explicit HostKernel(const HostOperator& host) : host_(host) {}
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    RunOnHost(host_, op, stack);
  }

 private:
  const HostOperator& host_;
};

bool Has(const c10::OperatorHandle& op, DispatchKey key) { return op.hasKernelForDispatchKey(key); }

// An operator needs our kernel when nothing composite answers for it; structured operators (whose
// functional form has a default that calls out=) are taken as well, so that each form is one
// program.
bool Wanted(const c10::OperatorHandle& op) {
  if (Has(op, DispatchKey::CompositeImplicitAutograd) || Has(op, DispatchKey::PrivateUse1))
    return false;
  const std::string name = FullName(op.operator_name());
  const auto functional = FindFunctional(op);
  const std::string functional_name = functional ? FullName(functional->operator_name()) : name;
  const bool foreach = name.rfind("aten::_foreach_", 0) == 0;
  if (foreach) return InfoOf(op).foreach.has_value();
  const ops::LoweringEntry* entry = ops::FindLowering(functional_name);
  if (entry == nullptr) entry = ops::FindLowering(name);
  if (entry == nullptr) return false;
  if (!Has(op, DispatchKey::CompositeExplicitAutograd)) return true;
  // A factory's shape follows from its numbers; the composite makes the tensor and calls out=.
  const auto& arguments = op.schema().arguments();
  const bool takes_tensors =
      std::any_of(arguments.begin(), arguments.end(), [](const c10::Argument& a) {
        const ArgKind kind = KindOf(a);
        return kind == ArgKind::kTensor || kind == ArgKind::kTensorList ||
               kind == ArgKind::kOptTensorList;
      });
  if (!takes_tensors) return false;
  // Over a composite kernel only where the lowering names this very overload.
  return entry->name == functional_name || entry->name == name;
}

void Fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  OpInfo& info = InfoOf(op);
  const Decompositions& table = GetDecompositions();
  const bool decomposes = info.lowering != nullptr || info.foreach ||
                          (table.exists && table.exists(info.functional_name));
  if (decomposes) return CallBoxed(info, stack);
  if (CpuFallbackEnabled()) return RunOnCpu(op, stack);
  RaiseMissing(info.name);
}

}  // namespace

void RegisterOperators() {
  static auto* library = new torch::Library(torch::Library::IMPL, "aten", DispatchKey::PrivateUse1,
                                            __FILE__, __LINE__);
  static auto* kernels = new std::vector<c10::RegistrationHandleRAII>();
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op) continue;
    if (const HostOperator* host = FindHostOperator(name)) {
      if (Has(*op, DispatchKey::CPU)) {
        library->impl(FullName(name).c_str() + 6, torch::CppFunction::makeFromBoxedFunctor(
                                                      std::make_unique<HostKernel>(*host)));
      }
      continue;
    }
    if (!Wanted(*op)) continue;
    if (auto direct = MakeDirectKernel(*op)) {
      kernels->push_back(c10::Dispatcher::singleton().registerImpl(
          name, DispatchKey::PrivateUse1, std::move(direct->function), direct->signature, nullptr,
          "torch_tpu: src/device/direct.cc"));
      continue;
    }
    library->impl(FullName(name).c_str() + 6,
                  torch::CppFunction::makeFromBoxedFunctor(std::make_unique<BoxedKernel>()));
  }
  static auto* fallback =
      new torch::Library(torch::Library::IMPL, "_", DispatchKey::PrivateUse1, __FILE__, __LINE__);
  fallback->fallback(torch::CppFunction::makeFromBoxedFunction<&Fallback>());
}

}  // namespace torch_tpu::device
