// Writing signatures. This is the hot path: no allocation once the vectors have grown, no string,
// no lock.
#include "device/signature.h"

#include <ATen/core/Tensor.h>

#include <bit>

#include "device/errors.h"
#include "views/view.h"

namespace torch_tpu::device {
namespace {

constexpr uint64_t kMul = 0x9E3779B97F4A7C15ull;

uint64_t Mix(uint64_t h, uint64_t w) { return (std::rotl(h, 23) ^ w) * kMul; }

// Numbers that may be part of a program: they recur everywhere and let lowerings leave work out.
bool IsCommon(double v) { return v == 0 || v == 1 || v == -1 || v == 2 || v == 0.5; }

}  // namespace

void Signature::Clear() {
  structure_.clear();
  sizes_.clear();
  operands_.clear();
  uses_.clear();
  numbers_.clear();
  results_.clear();
  wide_ = false;
}

int Signature::AddUse(const c10::TensorImpl& tensor, Tag tag, bool read) {
  TensorUse use;
  use.impl = &tensor;
  use.value = HandleOf(tensor).Get();
  const graph::Value& value = *use.value;
  const graph::TensorType& base = value.type();
  const DType type = ToDType(c10::typeMetaToScalarType(tensor.dtype()));
  use.dtype = type;
  if (type == DType::kF64 || type == DType::kC128) wide_ = true;
  const c10::IntArrayRef sizes = tensor.sizes();
  const c10::IntArrayRef strides = tensor.strides();
  const int64_t offset = tensor.storage_offset();
  const std::span<const int64_t> size_span(sizes.data(), sizes.size());
  const std::span<const int64_t> stride_span(strides.data(), strides.size());
  use.whole = views::IsWhole(base, type, size_span, stride_span, offset);

  uint64_t flags = use.whole;
  const bool splat = value.state() == graph::Value::State::kSplat;
  bool splat_known = false;
  if (splat && read) {
    const std::complex<double> number = NumberOf(value.splat(), base.dtype);
    splat_known = number.imag() == 0 && IsCommon(number.real());
    flags |= splat_known ? 2 : 4;
    use.splat_operand = !splat_known;
  }
  const bool same_dims = use.whole && size_span.size() == base.dims.size() &&
                         std::equal(size_span.begin(), size_span.end(), base.dims.begin());
  flags |= static_cast<uint64_t>(same_dims) << 3;
  starts_.clear();
  if (!use.whole) {
    bool wrapped = false;
    use.dynamic =
        views::SplitOffset(base, type, size_span, stride_span, offset, &starts_, &wrapped);
    flags |= static_cast<uint64_t>(use.dynamic) << 4 | static_cast<uint64_t>(wrapped) << 5;
  }
  Structure(tag | flags << 8 | static_cast<uint64_t>(type) << 16 |
            static_cast<uint64_t>(base.dtype) << 24 | static_cast<uint64_t>(sizes.size()) << 32 |
            static_cast<uint64_t>(base.dims.size()) << 48);
  for (int64_t s : sizes) Size(s);
  if (!same_dims) {
    for (int64_t s : base.dims) Size(s);
  }
  if (!use.whole) {
    for (int64_t s : strides) Size(s);
    if (!use.dynamic) Size(offset);
  }
  if (splat_known) Structure(value.splat().lo);
  const bool needs_base = read ? !splat_known : !use.whole;
  if (needs_base) {
    use.operand = static_cast<int>(operands_.size());
    if (splat) {
      // A write through a view of a splat: the base is the splat broadcast in the program.
      use.splat_operand = true;
      operands_.push_back({nullptr, base.dtype, value.splat()});
      if (!read) Structure(~uint64_t{0});
    } else {
      operands_.push_back({use.value, DType::kInvalid, {}});
    }
  }
  if (use.dynamic) {
    use.first_start = static_cast<int>(operands_.size());
    for (int64_t start : starts_) {
      operands_.push_back({nullptr, DType::kS32, {static_cast<uint64_t>(start) & 0xFFFFFFFFu, 0}});
    }
  }
  uses_.push_back(std::move(use));
  return static_cast<int>(uses_.size()) - 1;
}

int Signature::AddTensor(const c10::TensorImpl& tensor) { return AddUse(tensor, kTensor, true); }

int Signature::AddOutput(const c10::TensorImpl& tensor) { return AddUse(tensor, kOutput, false); }

int Signature::PushNumber(NumberUse number) {
  numbers_.push_back(number);
  return static_cast<int>(numbers_.size()) - 1;
}

int Signature::AddHostNumber(const at::TensorBase& tensor) {
  TensorUse use;
  use.impl = tensor.unsafeGetTensorImpl();
  use.host_number = true;
  use.wrapped = use.impl->is_wrapped_number();
  use.dtype = CheckedDType(tensor.scalar_type());
  const at::Scalar item = at::Tensor(tensor).item();
  Structure(kHostNumber | static_cast<uint64_t>(use.wrapped) << 8 |
            static_cast<uint64_t>(use.dtype) << 16);
  // A float64 number that is not Python's own says that the caller wants float64.
  use.number = AddNumber(item, false);
  uses_.push_back(std::move(use));
  return static_cast<int>(uses_.size()) - 1;
}

int Signature::AddNumber(const c10::Scalar& number, bool is_static) {
  NumberUse use;
  if (number.isBoolean()) {
    use.dtype = DType::kPred;
    use.integer = number.toBool();
    use.value = static_cast<double>(use.integer);
    is_static = true;
  } else if (number.isIntegral(false)) {
    use.dtype = DType::kS64;
    use.integer = number.toLong();
    use.value = static_cast<double>(use.integer);
  } else if (number.isComplex()) {
    use.dtype = DType::kC128;
    const auto z = number.toComplexDouble();
    use.value = {z.real(), z.imag()};
  } else {
    use.dtype = DType::kF64;
    use.value = number.toDouble();
  }
  use.constant = is_static || (use.value.imag() == 0 && IsCommon(use.value.real()));
  Structure(kNumber | static_cast<uint64_t>(use.constant) << 8 |
            static_cast<uint64_t>(use.dtype) << 16);
  if (use.constant) {
    if (use.dtype == DType::kS64) {
      Structure(static_cast<uint64_t>(use.integer));
    } else {
      Structure(std::bit_cast<uint64_t>(use.value.real()));
      if (use.dtype == DType::kC128) Structure(std::bit_cast<uint64_t>(use.value.imag()));
    }
  }
  return PushNumber(use);
}

void Signature::AddInts(c10::ArrayRef<int64_t> v) {
  Structure(kInts);
  Structure(v.size());
  for (int64_t i : v) Structure(static_cast<uint64_t>(i));
}

void Signature::AddString(std::string_view v) {
  Structure(kString);
  Structure(v.size());
  uint64_t word = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    word = word << 8 | static_cast<uint8_t>(v[i]);
    if (i % 8 == 7) Structure(std::exchange(word, 0));
  }
  Structure(word);
}

void Signature::Finish() {
  if (c10::get_default_dtype_as_scalartype() == c10::ScalarType::Double) wide_ = true;
  Structure(wide_);
  for (NumberUse& n : numbers_) {
    if (n.constant) continue;
    n.operand = static_cast<int>(operands_.size());
    if (n.dtype == DType::kS64) {
      operands_.push_back({nullptr, DType::kS64, {static_cast<uint64_t>(n.integer), 0}});
    } else if (n.dtype == DType::kC128) {
      const DType d = wide_ ? DType::kC128 : DType::kC64;
      operands_.push_back({nullptr, d, graph::BitsOf(n.value, d)});
    } else {
      const DType d = wide_ ? DType::kF64 : DType::kF32;
      operands_.push_back({nullptr, d, graph::BitsOf(n.value, d)});
    }
  }
  for (TensorUse& use : uses_) {
    if (use.host_number) use.operand = numbers_[use.number].operand;
  }
}

uint64_t Signature::Hash() const {
  uint64_t h = 0x243F6A8885A308D3ull;
  for (uint64_t w : structure_) h = Mix(h, w);
  for (uint64_t w : sizes_) h = Mix(h, w);
  return h ^ (h >> 32);
}

graph::TensorSpec Signature::SpecOf(int index) const {
  const TensorUse& use = uses_[index];
  graph::TensorSpec spec;
  spec.operand = use.operand;
  spec.dtype = use.dtype;
  if (use.host_number) {
    const NumberUse& n = numbers_[use.number];
    spec.rank0_number = n.operand >= 0;
    // A wide Python number among narrow tensors must not drag 64-bit floats into the program.
    const bool narrow = !wide_ && (use.dtype == DType::kF64 || use.dtype == DType::kC128);
    spec.dtype = narrow ? (IsComplex(use.dtype) ? DType::kC64 : DType::kF32) : use.dtype;
    spec.base.dtype = spec.dtype;
    if (n.operand < 0) {
      spec.splat = n.dtype == DType::kS64 ? graph::BitsOf(n.integer, spec.dtype)
                                          : graph::BitsOf(n.value, spec.dtype);
    }
    return spec;
  }
  spec.base = {use.value->type().dtype, use.value->type().dims};
  spec.sizes.assign(use.impl->sizes().begin(), use.impl->sizes().end());
  spec.whole = use.whole;
  spec.contiguous = use.impl->is_contiguous();
  spec.splat_operand = use.splat_operand;
  spec.first_start = use.first_start;
  if (use.value->state() == graph::Value::State::kSplat && use.operand < 0)
    spec.splat = use.value->splat();
  if (!use.whole) {
    const auto strides = use.impl->strides();
    views::View view{use.dtype, spec.sizes, Dims(strides.begin(), strides.end()),
                     use.impl->storage_offset()};
    spec.plan = ValueOrThrow(views::MakePlan(spec.base, view));
    TORCH_INTERNAL_ASSERT(spec.plan.dynamic == use.dynamic);
  }
  return spec;
}

graph::NumberSpec Signature::NumberSpecOf(int number) const {
  const NumberUse& n = numbers_[number];
  graph::NumberSpec spec;
  spec.dtype = n.dtype;
  spec.operand = n.operand;
  if (n.constant) spec.constant = n.value;
  return spec;
}

graph::TensorType Signature::OperandType(int operand) const {
  const graph::OperandRef& o = operands_[operand];
  if (o.value) return o.value->type();
  return {o.dtype, {}};
}

}  // namespace torch_tpu::device
