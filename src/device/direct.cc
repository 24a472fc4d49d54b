// The hit path without a stack; everything else goes to the boxed kernel.
#include "device/direct.h"

#include <type_traits>

#include "device/boxed.h"
#include "device/engine.h"
#include "device/make_entry.h"

namespace torch_tpu::device {
namespace {

bool MustResolve(const at::Tensor& t) { return IsLazy(t); }
bool MustResolve(const at::Scalar&) { return false; }

bool SharesStorage(const at::Tensor& self, const at::Tensor& other) {
  return other.defined() && other.has_storage() && other.storage().is_alias_of(self.storage());
}
bool SharesStorage(const at::Tensor&, const at::Scalar&) { return false; }

void Write(const OpInfo& info, const ArgInfo& arg, const at::Tensor& t, Signature* signature) {
  WriteTensor(info, arg, t, signature);
}
void Write(const OpInfo& info, const ArgInfo& arg, const at::Scalar& n, Signature* signature) {
  WriteNumber(info, arg, n, signature);
}

// Result: at::Tensor, or at::Tensor& for operators that write their first argument.
template <typename Result, typename First, typename... Rest>
class DirectKernel final : public c10::OperatorKernel {
 public:
  explicit DirectKernel(const c10::OperatorHandle& op) : op_(op) {}

  Result operator()(First first, Rest... rest) {
    OpInfo& info = Info();
    // Arguments that overlap are checked, and lazy ones resolved, where they are boxed.
    bool hit = !MustResolve(first) && !(MustResolve(rest) || ...);
    if constexpr (kInPlace) hit = hit && !(SharesStorage(first, rest) || ...);
    if (hit) {
      ScratchSignature signature;
      signature->AddMode(ModeBits(info.precision));
      Write(info, info.args[0], first, &*signature);
      size_t i = 1;
      (Write(info, info.args[i++], rest, &*signature), ...);
      signature->Finish();
      Entry* entry = info.entries.Find(*signature);
      if (entry != nullptr && entry->slots.size() == 1 && entry->padded.empty())
        return Run(*entry, *signature, first);
    }
    torch::jit::Stack stack;
    stack.emplace_back(first);
    (stack.emplace_back(rest), ...);
    CallBoxed(info, &stack);
    if constexpr (kInPlace) {
      return first;
    } else {
      return std::move(stack.back()).toTensor();
    }
  }

 private:
  static constexpr bool kInPlace = std::is_reference_v<Result>;

  OpInfo& Info() {
    OpInfo* info = info_.load(std::memory_order_acquire);
    if (info == nullptr) {
      info = &InfoOf(op_);
      info_.store(info, std::memory_order_release);
    }
    return *info;
  }

  static Result Run(Entry& entry, Signature& signature, First first) {
    std::vector<ValueRef>& results = signature.results();
    Execute(entry, signature, std::nullopt, &results);
    if constexpr (kInPlace) {
      HandleOf(first).Set(std::move(results[0]));
      return first;
    } else {
      const OutputTensor& o = entry.fresh[0];
      return MakeTensor(std::move(results[0]), o.dtype, o.sizes, o.strides);
    }
  }

  c10::OperatorHandle op_;
  std::atomic<OpInfo*> info_{nullptr};
};

template <typename Result, typename... Args>
UnboxedKernel Make(const c10::OperatorHandle& op) {
  using Kernel = DirectKernel<Result, Args...>;
  return {c10::KernelFunction::makeFromUnboxedFunctor<false, Kernel>(std::make_unique<Kernel>(op)),
          c10::impl::CppSignature::make<Result(Args...)>()};
}

// "TTS" for (Tensor, Tensor, Scalar) -> Tensor, with "!" in front when the first is written; empty
// for anything else.
std::string ShapeOf(const c10::FunctionSchema& schema) {
  if (schema.returns().size() != 1 ||
      schema.returns()[0].type()->kind() != c10::TypeKind::TensorType)
    return "";
  std::string shape;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& a = schema.arguments()[i];
    const bool written = a.alias_info() != nullptr && a.alias_info()->isWrite();
    if (a.is_out() || (a.alias_info() != nullptr && !written) || (written && i > 0)) return "";
    if (written) shape += '!';
    if (a.real_type()->kind() == c10::TypeKind::TensorType) {
      shape += 'T';
    } else if (a.real_type()->kind() == c10::TypeKind::NumberType) {
      shape += 'S';
    } else {
      return "";
    }
  }
  return shape;
}

}  // namespace

std::optional<UnboxedKernel> MakeDirectKernel(const c10::OperatorHandle& op) {
  using T = const at::Tensor&;
  using S = const at::Scalar&;
  using R = at::Tensor;
  using W = at::Tensor&;
  const std::string shape = ShapeOf(op.schema());
  if (shape == "T") return Make<R, T>(op);
  if (shape == "TT") return Make<R, T, T>(op);
  if (shape == "TS") return Make<R, T, S>(op);
  if (shape == "TTS") return Make<R, T, T, S>(op);
  if (shape == "TTT") return Make<R, T, T, T>(op);
  if (shape == "TTTSS") return Make<R, T, T, T, S, S>(op);
  if (shape == "!T") return Make<W, W>(op);
  if (shape == "!TT") return Make<W, W, T>(op);
  if (shape == "!TS") return Make<W, W, S>(op);
  if (shape == "!TTS") return Make<W, W, T, S>(op);
  return std::nullopt;
}

}  // namespace torch_tpu::device
