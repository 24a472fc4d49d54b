// The copy kernels under aten::copy_ and aten::to.
#include "device/copy.h"

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>

#include "device/engine.h"
#include "device/errors.h"
#include "device/mode.h"
#include "device/pinned.h"
#include "device/stream.h"
#include "device/tracer.h"
#include "graph/deferred.h"
#include "views/view.h"

namespace torch_tpu::device {
namespace {

const ops::LoweringEntry& CopyLowering() {
  static const ops::LoweringEntry entry = {
      "aten::copy_", [](ops::Call& c) { return ops::Results{c.tensor(0)}; }, nullptr, {}, __FILE__,
      __LINE__};
  return entry;
}

// True when both storages hold exactly these elements in the same order, so that the value may be
// shared.
bool SameLayout(const at::Tensor& dst, const at::Tensor& src) {
  const int64_t bytes = dst.numel() * static_cast<int64_t>(dst.element_size());
  return dst.scalar_type() == src.scalar_type() && dst.sizes() == src.sizes() &&
         dst.strides() == src.strides() && dst.storage_offset() == 0 && src.storage_offset() == 0 &&
         static_cast<int64_t>(dst.storage().nbytes()) == bytes &&
         static_cast<int64_t>(src.storage().nbytes()) == bytes &&
         dst.is_non_overlapping_and_dense();
}

std::unique_ptr<Entry> CopyEntry(const Signature& signature, int source, int target,
                                 const at::Tensor& dst) {
  auto entry = std::make_unique<Entry>();
  auto spec = std::make_shared<graph::CallSpec>();
  spec->name = "aten::copy_";
  graph::SubCall call;
  call.lowering = &CopyLowering();
  call.args.push_back({signature.SpecOf(source)});
  const graph::TensorType type{CheckedDType(dst.scalar_type()), dst.sizes().vec()};
  call.outputs.push_back(WriteOutput(type, signature, target));
  call.common = type.dtype;
  spec->calls.push_back(std::move(call));
  entry->slots.push_back({true, target});
  FinishSpec(spec.get(), signature);
  entry->spec = std::move(spec);
  return entry;
}

// A view of little memory is read by copying all of that memory and taking the elements on the
// host: no program to compile, none to launch.
bool CopyWholeToHost(graph::Runtime& runtime, const at::Tensor& dst, const at::Tensor& src) {
  constexpr int64_t kAlways = 64 << 10;  // bytes
  const ValueRef value = HandleOf(src).Get();
  const graph::TensorType& base = value->type();
  const int64_t bytes = NumElements(base.dims) * DTypeSize(base.dtype);
  const int64_t wanted = src.numel() * static_cast<int64_t>(src.element_size());
  if (bytes > std::max(kAlways, 2 * wanted)) return false;
  const at::Tensor whole = at::empty({bytes}, at::device(at::kCPU).dtype(at::kByte));
  ThrowIfError(runtime.ToHost(value, whole.mutable_data_ptr(), bytes, CurrentWork()));
  at::Tensor elements = at::empty({0}, src.options().device(at::kCPU));
  elements.set_(whole.storage(), src.storage_offset(), src.sizes(), src.strides());
  dst.copy_(elements);
  return true;
}

}  // namespace

void CopyOnDevice(const at::Tensor& dst, const at::Tensor& src) {
  if (dst.is_same(src)) return;
  if (src.sizes() != dst.sizes()) (void)at::infer_size(dst.sizes(), src.sizes());  // or raises
  if (dst.numel() == 0) return;
  if (src.storage().is_alias_of(dst.storage())) at::assert_no_partial_overlap(dst, src);
  at::Tensor from = src.sizes() == dst.sizes() ? src : src.expand(dst.sizes());
  if (SameLayout(dst, from)) {
    HandleOf(dst).Set(HandleOf(from).Get());
    return;
  }
  static auto* entries = new EntryTable();
  ScratchSignature signature;
  signature->AddMode(ModeBits(/*precision=*/false));
  const int source = signature->AddTensor(*from.unsafeGetTensorImpl());
  const int target = signature->AddOutput(*dst.unsafeGetTensorImpl());
  signature->Finish();
  Entry* entry = entries->Find(*signature);
  if (entry == nullptr)
    entry = entries->Insert(*signature, CopyEntry(*signature, source, target, dst));
  std::vector<ValueRef> results;
  Execute(*entry, *signature, std::nullopt, &results);
  HandleOf(dst).Set(std::move(results[0]));
}

void CopyToDevice(const at::Tensor& dst, const at::Tensor& src) {
  if (src.sizes() != dst.sizes()) (void)at::infer_size(dst.sizes(), src.sizes());  // or raises
  if (dst.numel() == 0) return;
  graph::Runtime& runtime = *ValueOrThrow(graph::Runtime::Get());
  // Converting and gathering on the host first: the device gets one dense array.
  at::Tensor host = src.to(dst.scalar_type());
  if (host.sizes() != dst.sizes()) host = host.expand(dst.sizes());
  Dims memory, order;
  const bool dense = views::DenseOrder(dst.sizes(), dst.strides(), &memory, &order) &&
                     dst.storage_offset() == 0 &&
                     static_cast<int64_t>(dst.storage().nbytes()) ==
                         dst.numel() * static_cast<int64_t>(dst.element_size());
  host = (dense ? host.permute(order) : host).contiguous();
  const graph::TensorType* type =
      graph::InternType(CheckedDType(dst.scalar_type()), host.sizes().vec());
  ValueRef value =
      ValueOrThrow(runtime.FromHost(host.const_data_ptr(), type, "aten::copy_"), "copy to device");
  if (dense) {
    HandleOf(dst).Set(std::move(value));
  } else {
    CopyOnDevice(dst,
                 MakeTensor(std::move(value), dst.scalar_type(), host.sizes(), host.strides()));
  }
}

void CopyToHost(const at::Tensor& dst, const at::Tensor& src, bool non_blocking) {
  if (dst.numel() == 0) return;
  if (Tracer::Current() != nullptr) {
    std::string line = PythonLine();
    if (!line.empty()) line = " (at " + line + ")";
    TORCH_CHECK(false,
                "a tensor's values were asked for (item, cpu, print or a condition) while calls "
                "were recorded and not run",
                line);
  }
  // Whether the value is there already depends on time; what is sent together must not.
  if (CurrentMode() == Mode::kDefer) graph::Recorder::Get().Send();
  graph::Runtime& runtime = *ValueOrThrow(graph::Runtime::Get());
  at::Tensor from = src;
  const c10::TensorImpl& impl = *from.unsafeGetTensorImpl();
  const graph::TensorType& base = HandleOf(from).Get()->type();
  const auto span = [](c10::IntArrayRef a) { return std::span<const int64_t>(a.data(), a.size()); };
  Dims memory, order;
  const bool dense = from.storage_offset() == 0 && base.dtype == ToDType(from.scalar_type()) &&
                     NumElements(base.dims) == from.numel() &&
                     views::DenseOrder(span(impl.sizes()), span(impl.strides()), &memory, &order);
  if (!dense) {
    if (CopyWholeToHost(runtime, dst, src)) return;
    from = MakeEmpty(src.scalar_type(), src.sizes(), ContiguousStrides(src.sizes().vec()));
    CopyOnDevice(from, src);
  }
  // A host tensor of the same strides takes the bytes as they are; PyTorch's own copy does the
  // rest.
  const bool direct = dst.scalar_type() == from.scalar_type() && dst.sizes() == from.sizes() &&
                      dst.strides() == from.strides() && dst.is_non_overlapping_and_dense();
  at::Tensor host =
      direct ? dst
             : at::empty_strided(from.sizes(), from.strides(), from.options().device(at::kCPU));
  const ValueRef value = HandleOf(from).Get();
  if (direct && non_blocking && IsPinned(dst.const_data_ptr())) {
    auto memory = std::make_shared<c10::Storage>(dst.storage());
    ThrowIfError(runtime.StartToHost(value, dst.mutable_data_ptr(),
                                     static_cast<int64_t>(dst.nbytes()), CurrentWork(), memory));
    return;
  }
  ThrowIfError(runtime.ToHost(value, host.mutable_data_ptr(), static_cast<int64_t>(host.nbytes()),
                              CurrentWork()));
  if (!direct) dst.copy_(host);
}

ValueRef ResizedValue(const ValueRef& value, int64_t nbytes) {
  const graph::TensorType& type = value->type();
  const int64_t size = DTypeSize(type.dtype);
  const int64_t old_count = NumElements(type.dims);
  if (nbytes % size != 0) {
    TORCH_CHECK(old_count == 0 || value->state() == graph::Value::State::kSplat,
                "cannot resize a storage of ", DTypeName(type.dtype), " to ", nbytes,
                " bytes, which is no multiple of its element size");
    return UndefinedValue(DType::kU8, {nbytes});
  }
  const int64_t new_count = nbytes / size;
  if (value->state() == graph::Value::State::kSplat) {
    return graph::Value::Splat(graph::InternType(type.dtype, {new_count}), value->splat());
  }
  const int64_t kept = std::min(old_count, new_count);
  if (kept == 0) return UndefinedValue(type.dtype, {new_count});
  const c10::ScalarType dtype = ToScalarType(type.dtype);
  at::Tensor from = MakeTensor(value, dtype, {old_count}, {1});
  at::Tensor to = MakeEmpty(dtype, {new_count}, {1});
  CopyOnDevice(to.as_strided({kept}, {1}, 0), from.as_strided({kept}, {1}, 0));
  return HandleOf(to).Get();
}

}  // namespace torch_tpu::device
