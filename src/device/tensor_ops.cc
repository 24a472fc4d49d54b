// Operators that are not programs: factories, views, storage surgery, copies and reading one
// element.
#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_linalg_check_errors_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/select_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "device/boxed.h"
#include "device/copy.h"
#include "device/errors.h"
#include "device/handle.h"
#include "device/tracer.h"

namespace torch_tpu::device {
namespace {

void CheckPinned(std::optional<bool> pin_memory) {
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

at::Tensor empty(c10::SymIntArrayRef sizes, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout> layout, std::optional<at::Device> device,
                 std::optional<bool> pin_memory, std::optional<at::MemoryFormat> format) {
  CheckPinned(pin_memory);
  TORCH_CHECK(layout.value_or(at::kStrided) == at::kStrided,
              "device tpu has strided tensors only, got layout ", *layout);
  TORCH_CHECK(!device || device->index() <= 0, "one process sees one device, tpu:0; got ", *device);
  const auto dims = C10_AS_INTARRAYREF_SLOW(sizes);
  std::vector<int64_t> strides;
  switch (format.value_or(at::MemoryFormat::Contiguous)) {
    case at::MemoryFormat::ChannelsLast:
      strides = c10::get_channels_last_strides_2d(dims);
      break;
    case at::MemoryFormat::ChannelsLast3d:
      strides = c10::get_channels_last_strides_3d(dims);
      break;
    default:
      strides = ContiguousStrides(dims.vec());
  }
  return MakeEmpty(dtype.value_or(c10::get_default_dtype_as_scalartype()), dims, strides);
}

at::Tensor empty_strided(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool> pin_memory) {
  CheckPinned(pin_memory);
  return MakeEmpty(dtype.value_or(c10::get_default_dtype_as_scalartype()),
                   C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides));
}

// A tensor of zeros without storage, which autograd makes for gradients that are zero everywhere.
at::Tensor efficient_zero_tensor(c10::SymIntArrayRef sizes, std::optional<at::ScalarType> dtype,
                                 std::optional<at::Layout>, std::optional<at::Device>,
                                 std::optional<bool>) {
  static auto* allocator =
      new at::native::ZeroTensorAllocator(at::Device(c10::DeviceType::PrivateUse1, 0));
  const c10::DispatchKeySet keys({c10::DispatchKey::PrivateUse1, c10::DispatchKey::ZeroTensor});
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(sizes), allocator, keys,
                                   dtype.value_or(c10::get_default_dtype_as_scalartype()),
                                   std::nullopt);
}

void EnsureStorage(const at::Tensor& self, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                   int64_t offset) {
  const size_t bytes =
      at::detail::computeStorageNbytes(sizes, strides, self.element_size(), offset);
  if (self.numel() > 0 && bytes > self.storage().nbytes()) {
    CheckAllocation({static_cast<int64_t>(bytes)}, DType::kU8);
    ResizeStorage(self.storage().unsafeGetStorageImpl(), bytes);
  }
}

const at::Tensor& resize_(const at::Tensor& self, c10::SymIntArrayRef size,
                          std::optional<at::MemoryFormat> format) {
  const auto sizes = C10_AS_INTARRAYREF_SLOW(size);
  auto* impl = self.unsafeGetTensorImpl();
  if (self.sizes() != sizes) {
    impl->set_sizes_contiguous(sizes);
    EnsureStorage(self, self.sizes(), self.strides(), self.storage_offset());
  }
  if (format) impl->empty_tensor_restride(*format);
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source, c10::SymInt offset,
                        c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  const auto sizes = C10_AS_INTARRAYREF_SLOW(size);
  const auto strides = C10_AS_INTARRAYREF_SLOW(stride);
  at::native::checkSetStorage(self, source, offset.expect_int(), sizes, strides);
  self.unsafeGetTensorImpl()->set_storage_offset(offset.expect_int());
  if (strides.data() == nullptr) {
    self.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  } else {
    self.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  }
  EnsureStorage(self, self.sizes(), self.strides(), self.storage_offset());
  return self;
}

at::Tensor& set_storage_whole(at::Tensor& self, at::Storage source) {
  const int64_t count = static_cast<int64_t>(source.nbytes() / self.dtype().itemsize());
  const c10::SymInt size(count), stride(1);
  return set_storage(self, std::move(source), 0, {size}, {stride});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  return set_storage(self, source.storage(), source.sym_storage_offset(), source.sym_sizes(),
                     source.sym_strides());
}

at::Tensor& set_empty(at::Tensor& self) {
  at::Storage storage(c10::Storage::use_byte_size_t(), 0, GetAllocator()->allocate(0),
                      GetAllocator(), true);
  const c10::SymInt zero(0);
  return set_storage(self, std::move(storage), 0, {zero}, {});
}

// x[i] is common enough in loops to skip PyTorch's detour through a second dispatched view.
at::Tensor select_int(const at::Tensor& self, int64_t dim, c10::SymInt index) {
  const int64_t rank = self.dim();
  const int64_t i = index.expect_int();
  if (rank == 0 || dim < -rank || dim >= rank) return at::native::select_symint(self, dim, index);
  if (dim < 0) dim += rank;
  const int64_t size = self.size(dim);
  if (i < -size || i >= size) return at::native::select_symint(self, dim, index);  // its error
  c10::SmallVector<int64_t, 8> sizes(self.sizes()), strides(self.strides());
  const int64_t offset = self.storage_offset() + (i < 0 ? i + size : i) * strides[dim];
  sizes.erase(sizes.begin() + dim);
  strides.erase(strides.begin() + dim);
  return at::native::as_strided_tensorimpl(self, sizes, strides, offset);
}

bool is_set_to(const at::Tensor& self, const at::Tensor& other) {
  return self.storage().unsafeGetStorageImpl() == other.storage().unsafeGetStorageImpl() &&
         self.storage_offset() == other.storage_offset() && self.sizes() == other.sizes() &&
         self.strides() == other.strides();
}

// Lazy conjugation and negation are flags on a view; a copy makes them real on the side that has
// them.
at::Tensor ResolveFlags(const at::Tensor& src, bool conj, bool neg) {
  at::Tensor t = src;
  if (t.is_conj()) t = t.conj();
  if (t.is_neg()) t = t._neg_view();
  if (src.is_conj() != conj) t = at::conj_physical(t);
  if (src.is_neg() != neg) t = at::neg(t);
  return t;
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  if (self.is_conj() || self.is_neg() || dst.is_conj() || dst.is_neg()) {
    at::Tensor plain = dst;
    if (plain.is_conj()) plain = plain.conj();
    if (plain.is_neg()) plain = plain._neg_view();
    copy_from(ResolveFlags(self, dst.is_conj(), dst.is_neg()), plain, non_blocking);
    return dst;
  }
  if (dst.device().is_privateuseone()) {
    at::assert_no_internal_overlap(dst);
    self.device().is_privateuseone() ? CopyOnDevice(dst, self) : CopyToDevice(dst, self);
  } else {
    CopyToHost(dst, self.sizes() == dst.sizes() ? self : self.expand(dst.sizes()), non_blocking);
  }
  return dst;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  if (dst.sizes() != self.sizes()) dst.resize_(self.sizes());
  return copy_from(self, dst, false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  at::Tensor host = at::empty({}, self.options().device(at::kCPU));
  CopyToHost(host, self.reshape({}));
  return host.item();
}

// Whole fills take no launch: the value becomes a constant that is made when somebody needs its
// bytes.
bool FillWhole(const at::Tensor& self, const at::Scalar& value) {
  if (self.numel() == 0) return true;
  Handle& handle = HandleOf(self);
  const int64_t bytes = self.numel() * static_cast<int64_t>(self.element_size());
  if (self.storage_offset() != 0 || static_cast<int64_t>(self.storage().nbytes()) != bytes ||
      !self.is_non_overlapping_and_dense()) {
    return false;
  }
  Dims memory, order;
  if (!views::DenseOrder(self.sizes(), self.strides(), &memory, &order)) return false;
  const DType dtype = CheckedDType(self.scalar_type());
  graph::ScalarBits bits;
  if (value.isIntegral(true)) {
    bits = graph::BitsOf(
        value.isUnsigned() ? static_cast<int64_t>(value.toUInt64()) : value.toLong(), dtype);
  } else {
    const auto z = value.toComplexDouble();
    bits = graph::BitsOf(std::complex<double>(z.real(), z.imag()), dtype);
  }
  handle.Set(graph::Value::Splat(graph::InternType(dtype, memory), bits));
  return true;
}

// A fill through any view writes a broadcast rank-0 tensor. Expanded targets are filled once per
// element.
at::Tensor& fill_scalar(at::Tensor& self, const at::Scalar& value) {
  TORCH_CHECK(!value.isComplex() || self.is_complex(), "value cannot be converted to type ",
              self.scalar_type(), " without overflow");
  // PyTorch refuses numbers that an integer type cannot hold.
  if (at::isIntegralType(self.scalar_type(), /*includeBool=*/false))
    (void)at::scalar_tensor(value, at::device(at::kCPU).dtype(self.scalar_type()));
  if (FillWhole(self, value)) return self;
  at::Tensor target = self;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.stride(d) == 0 && self.size(d) > 1) target = target.narrow(d, 0, 1);
  }
  at::Tensor element = MakeEmpty(self.scalar_type(), {}, {});
  FillWhole(element, value);
  CopyOnDevice(target, element);
  return self;
}

at::Tensor& fill_tensor(at::Tensor& self, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  if (!value.device().is_privateuseone()) return fill_scalar(self, value.item());
  at::Tensor target = self;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.stride(d) == 0 && self.size(d) > 1) target = target.narrow(d, 0, 1);
  }
  CopyOnDevice(target, value);
  return self;
}

at::Tensor& zero_(at::Tensor& self) { return fill_scalar(self, 0); }

bool equal(const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.device() == other.device(),
              "Expected all tensors to be on the same device, but found at least two "
              "devices, ",
              self.device(), " and ", other.device(), "!");
  TORCH_CHECK(self.dtype() == other.dtype(), "Expected object of data type ", self.dtype(),
              " but got data type ", other.dtype(), " for argument 'other' in call to equal");
  if (self.sizes() != other.sizes()) return false;
  if (self.numel() == 0) return true;
  return at::all(at::eq(self, other)).item<bool>();
}

bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  const auto dense = [](const at::Tensor& t) {
    return t.layout() == at::kStrided && (t.device().is_privateuseone() || t.device().is_cpu());
  };
  return dense(self) && dense(from);
}

// A recorded call has no values that could be checked.
void linalg_check_errors(const at::Tensor& info, c10::string_view api_name, bool is_matrix) {
  if (Tracer::Current() == nullptr) at::native::_linalg_check_errors(info, api_name, is_matrix);
}

void record_stream(at::Tensor&, at::Stream) {}

at::Tensor masked_select_values(const at::Tensor& self, const at::Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_select: expected BoolTensor for mask");
  const auto both = at::expand_outplace(mask, self, "masked_select");
  return std::get<1>(both)->reshape({-1}).index({std::get<0>(both)->reshape({-1})});
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", TORCH_FN(empty));
  m.impl("empty_strided", TORCH_FN(empty_strided));
  m.impl("_efficientzerotensor", TORCH_FN(efficient_zero_tensor));
  m.impl("select.int", TORCH_FN(select_int));
  m.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  m.impl("view", TORCH_FN(at::native::view));
  m.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  m.impl("unfold", TORCH_FN(at::native::unfold));
  m.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  m.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
  m.impl("resize_", TORCH_FN(resize_));
  m.impl("set_.source_Storage_storage_offset", TORCH_FN(set_storage));
  m.impl("set_.source_Storage", TORCH_FN(set_storage_whole));
  m.impl("set_.source_Tensor", TORCH_FN(set_tensor));
  m.impl("set_", TORCH_FN(set_empty));
  m.impl("is_set_to", TORCH_FN(is_set_to));
  m.impl("_copy_from", TORCH_FN(copy_from));
  m.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  m.impl("_local_scalar_dense", TORCH_FN(local_scalar_dense));
  m.impl("fill_.Scalar", TORCH_FN(fill_scalar));
  m.impl("fill_.Tensor", TORCH_FN(fill_tensor));
  m.impl("zero_", TORCH_FN(zero_));
  m.impl("equal", TORCH_FN(equal));
  m.impl("_has_compatible_shallow_copy_type", TORCH_FN(has_compatible_shallow_copy_type));
  m.impl("_linalg_check_errors", TORCH_FN(linalg_check_errors));
  m.impl("record_stream", TORCH_FN(record_stream));
  m.impl("masked_select", TORCH_FN(masked_select_values));
}

// Copies resolve lazy conjugation and negation themselves; the math-bit fallbacks would call them
// again without end.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

}  // namespace torch_tpu::device
