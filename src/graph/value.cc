// States of a value, interned types, element bits and the memory account.
#include "graph/value.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "graph/in_flight.h"

namespace torch_tpu::graph {
namespace {

struct TypeHash {
  size_t operator()(const TensorType& t) const {
    uint64_t h = static_cast<uint64_t>(t.dtype) * 0x9E3779B97F4A7C15ull;
    for (int64_t d : t.dims)
      h = (std::rotl(h, 5) ^ static_cast<uint64_t>(d)) * 0x9E3779B97F4A7C15ull;
    return h;
  }
};

// Rounds a float32 to a narrower float given by its exponent and mantissa widths, to nearest even.
struct Narrow {
  int exponent_bits, mantissa_bits, bias;
  bool finite_only;    // no infinity: overflow and NaN share the all-ones pattern
  bool unsigned_zero;  // "fnuz": one NaN, the pattern of negative zero
};

uint64_t RoundTo(double v, const Narrow& f) {
  const int width = 1 + f.exponent_bits + f.mantissa_bits;
  const uint64_t sign = std::signbit(v) ? uint64_t{1} << (width - 1) : 0;
  const uint64_t exponent_mask = (uint64_t{1} << f.exponent_bits) - 1;
  const uint64_t mantissa_mask = (uint64_t{1} << f.mantissa_bits) - 1;
  uint64_t nan, overflow;
  if (f.unsigned_zero) {
    nan = overflow = uint64_t{1} << (width - 1);
  } else if (f.finite_only) {
    nan = overflow = sign | (exponent_mask << f.mantissa_bits) | mantissa_mask;
  } else {
    nan = sign | (exponent_mask << f.mantissa_bits) | (uint64_t{1} << (f.mantissa_bits - 1));
    overflow = sign | (exponent_mask << f.mantissa_bits);
  }
  if (std::isnan(v)) return nan;
  if (std::isinf(v)) return overflow;
  const double a = std::fabs(v);
  if (a == 0) return f.unsigned_zero ? 0 : sign;
  int e;
  std::frexp(a, &e);  // a = m * 2^e, m in [0.5, 1)
  e = std::max(e - 1, 1 - f.bias);
  // nearbyint rounds to nearest even; a carry into the next exponent is the arithmetic below.
  uint64_t mantissa = static_cast<uint64_t>(std::nearbyint(std::ldexp(a, f.mantissa_bits - e)));
  uint64_t bits = (static_cast<uint64_t>(e + f.bias - 1) << f.mantissa_bits) + mantissa;
  uint64_t largest = (exponent_mask << f.mantissa_bits) - 1;  // below infinity
  if (f.unsigned_zero) largest = (exponent_mask << f.mantissa_bits) | mantissa_mask;
  if (f.finite_only) largest = ((exponent_mask << f.mantissa_bits) | mantissa_mask) - 1;
  if (bits > largest) return overflow;
  if (bits == 0 && f.unsigned_zero) return 0;
  return sign | bits;
}

double WidenFrom(uint64_t bits, const Narrow& f) {
  const int width = 1 + f.exponent_bits + f.mantissa_bits;
  const uint64_t exponent_mask = (uint64_t{1} << f.exponent_bits) - 1;
  const uint64_t mantissa_mask = (uint64_t{1} << f.mantissa_bits) - 1;
  const bool negative = (bits >> (width - 1)) & 1;
  const uint64_t e = (bits >> f.mantissa_bits) & exponent_mask;
  const uint64_t m = bits & mantissa_mask;
  if (f.unsigned_zero && bits == uint64_t{1} << (width - 1)) return NAN;
  if (f.finite_only && e == exponent_mask && m == mantissa_mask) return NAN;
  if (!f.finite_only && !f.unsigned_zero && e == exponent_mask) {
    return m != 0 ? NAN : (negative ? -INFINITY : INFINITY);
  }
  double a = e == 0 ? std::ldexp(static_cast<double>(m), 1 - f.bias - f.mantissa_bits)
                    : std::ldexp(static_cast<double>(m | (mantissa_mask + 1)),
                                 static_cast<int>(e) - f.bias - f.mantissa_bits);
  return negative ? -a : a;
}

void Raise(std::atomic<int64_t>* highest, int64_t now) {
  int64_t seen = highest->load(std::memory_order_relaxed);
  while (now > seen && !highest->compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

constexpr Narrow kF16 = {5, 10, 15, false, false};
constexpr Narrow kBF16 = {8, 7, 127, false, false};

const Narrow& NarrowOf(DType d) {
  static constexpr Narrow kE4M3FN = {4, 3, 7, true, false};
  static constexpr Narrow kE5M2 = {5, 2, 15, false, false};
  static constexpr Narrow kE4M3FNUZ = {4, 3, 8, false, true};
  static constexpr Narrow kE5M2FNUZ = {5, 2, 16, false, true};
  switch (d) {
    case DType::kF16:
      return kF16;
    case DType::kBF16:
      return kBF16;
    case DType::kF8E4M3FN:
      return kE4M3FN;
    case DType::kF8E5M2:
      return kE5M2;
    case DType::kF8E4M3FNUZ:
      return kE4M3FNUZ;
    default:
      return kE5M2FNUZ;
  }
}

uint64_t MaskOf(DType d) {
  const int64_t size = DTypeSize(d);
  return size >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
}

}  // namespace

const TensorType* InternType(DType dtype, const Dims& dims) {
  static std::mutex mutex;
  static auto* types =
      new std::unordered_map<TensorType, std::unique_ptr<const TensorType>, TypeHash>();
  std::lock_guard lock(mutex);
  TensorType type{dtype, dims};
  auto& slot = (*types)[type];
  if (!slot) slot = std::make_unique<const TensorType>(std::move(type));
  return slot.get();
}

ScalarBits BitsOf(int64_t value, DType dtype) {
  if (dtype == DType::kPred) return {value != 0, 0};
  if (IsInteger(dtype)) return {static_cast<uint64_t>(value) & MaskOf(dtype), 0};
  return BitsOf(std::complex<double>(static_cast<double>(value), 0), dtype);
}

ScalarBits BitsOf(std::complex<double> value, DType dtype) {
  const double re = value.real();
  switch (dtype) {
    case DType::kPred:
      return {re != 0 || value.imag() != 0, 0};
    case DType::kF32:
      return {std::bit_cast<uint32_t>(static_cast<float>(re)), 0};
    case DType::kF64:
      return {std::bit_cast<uint64_t>(re), 0};
    case DType::kC64: {
      const uint64_t r = std::bit_cast<uint32_t>(static_cast<float>(re));
      const uint64_t i = std::bit_cast<uint32_t>(static_cast<float>(value.imag()));
      return {r | (i << 32), 0};
    }
    case DType::kC128:
      return {std::bit_cast<uint64_t>(re), std::bit_cast<uint64_t>(value.imag())};
    default:
      break;
  }
  if (IsFloat(dtype)) {
    // Through float32, as PyTorch's own conversions go.
    return {RoundTo(static_cast<float>(re), NarrowOf(dtype)), 0};
  }
  // Out-of-range numbers have no right answer; the nearest bound keeps the cast defined.
  const double lo = -9223372036854775808.0, hi = 18446744073709549568.0;
  const double clamped = std::isnan(re) ? 0 : std::fmin(std::fmax(re, lo), hi);
  const uint64_t bits = clamped >= 9223372036854775808.0
                            ? static_cast<uint64_t>(clamped)
                            : static_cast<uint64_t>(static_cast<int64_t>(clamped));
  return {bits & MaskOf(dtype), 0};
}

std::complex<double> NumberOf(ScalarBits bits, DType dtype) {
  switch (dtype) {
    case DType::kPred:
      return bits.lo != 0 ? 1.0 : 0.0;
    case DType::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits.lo));
    case DType::kF64:
      return std::bit_cast<double>(bits.lo);
    case DType::kC64:
      return {std::bit_cast<float>(static_cast<uint32_t>(bits.lo)),
              std::bit_cast<float>(static_cast<uint32_t>(bits.lo >> 32))};
    case DType::kC128:
      return {std::bit_cast<double>(bits.lo), std::bit_cast<double>(bits.hi)};
    case DType::kS8:
      return static_cast<int8_t>(bits.lo);
    case DType::kS16:
      return static_cast<int16_t>(bits.lo);
    case DType::kS32:
      return static_cast<int32_t>(bits.lo);
    case DType::kS64:
      return static_cast<double>(static_cast<int64_t>(bits.lo));
    default:
      break;
  }
  if (IsUnsigned(dtype)) return static_cast<double>(bits.lo);
  return WidenFrom(bits.lo, NarrowOf(dtype));
}

void MemoryAccount::Add(int64_t bytes) {
  const int64_t now = allocated.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  count.fetch_add(1, std::memory_order_relaxed);
  total_count.fetch_add(1, std::memory_order_relaxed);
  Raise(&peak, now);
}

void MemoryAccount::AddLaunch(int64_t temporaries) {
  Raise(&launch_peak, allocated.load(std::memory_order_relaxed) + temporaries);
}

void MemoryAccount::Remove(int64_t bytes) {
  allocated.fetch_sub(bytes, std::memory_order_relaxed);
  count.fetch_sub(1, std::memory_order_relaxed);
}

MemoryAccount& MemoryAccount::Get() {
  static auto* account = new MemoryAccount();
  return *account;
}

Ref<Value> Value::Buffer(const TensorType* type, pjrt::Buffer buffer, const char* origin) {
  Ref<Value> v(new Value(type));
  v->state_ = State::kBuffer;
  v->buffer_ = std::move(buffer);
  v->origin_ = origin;
  v->bytes_ = NumElements(type->dims) * DTypeSize(type->dtype);
  MemoryAccount::Get().Add(v->bytes_);
  return v;
}

Ref<Value> Value::Splat(const TensorType* type, ScalarBits bits) {
  Ref<Value> v(new Value(type));
  v->state_ = State::kSplat;
  v->splat_ = bits;
  return v;
}

Ref<Value> Value::Traced(const TensorType* type, uint64_t trace, int node, int output) {
  Ref<Value> v(new Value(type));
  v->state_ = State::kTraced;
  v->trace_ = trace;
  v->node_ = node;
  v->output_ = output;
  return v;
}

Ref<Value> Value::Deferred(const TensorType* type, uint64_t number, int output,
                           const char* origin) {
  Ref<Value> v(new Value(type));
  v->state_ = State::kDeferred;
  v->trace_ = number;
  v->output_ = output;
  v->origin_ = origin;
  return v;
}

void Value::Fulfil(pjrt::Buffer buffer) {
  buffer_ = std::move(buffer);
  bytes_ = NumElements(type_->dims) * DTypeSize(type_->dtype);
  MemoryAccount::Get().Add(bytes_);
  state_.store(State::kBuffer, std::memory_order_release);
}

void Value::Fail(Status status) {
  error_ = std::move(status);
  state_.store(State::kError, std::memory_order_release);
}

Ref<Value> Value::Error(const TensorType* type, Status status) {
  Ref<Value> v(new Value(type));
  v->state_ = State::kError;
  v->error_ = std::move(status);
  return v;
}

void Value::MarkDonated() {
  if (InFlight* list = in_flight_.load(std::memory_order_acquire)) list->Forget(*this);
  MemoryAccount::Get().allocated.fetch_sub(bytes_, std::memory_order_relaxed);
  bytes_ = 0;
}

Value::~Value() {
  if (InFlight* list = in_flight_.load(std::memory_order_acquire)) list->Forget(*this);
  if (state() == State::kBuffer) MemoryAccount::Get().Remove(bytes_);
}

}  // namespace torch_tpu::graph
