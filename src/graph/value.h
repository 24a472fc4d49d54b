// A value: the immutable contents of a tensor's storage, in one of the states it passes through.
#pragma once

#include <atomic>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>

#include "base/dtype.h"
#include "base/ref.h"
#include "base/status.h"
#include "pjrt/pjrt.h"
#include "shlo/types.h"

namespace torch_tpu::graph {

using shlo::TensorType;

// The one immortal copy of a type: pointers are equal when types are.
const TensorType* InternType(DType dtype, const Dims& dims);

// One element of any dtype, as the bits that a host buffer of that dtype holds.
struct ScalarBits {
  uint64_t lo = 0, hi = 0;  // hi: imaginary part of complex128
  bool operator==(const ScalarBits&) const = default;
};
// A number as an element of `dtype`, rounded as PyTorch rounds. Integers keep all 64 bits.
ScalarBits BitsOf(std::complex<double> value, DType dtype);
ScalarBits BitsOf(int64_t value, DType dtype);
std::complex<double> NumberOf(ScalarBits bits, DType dtype);

// Bytes of live device buffers. Thread-safe.
struct MemoryAccount {
  std::atomic<int64_t> allocated{0};
  std::atomic<int64_t> peak{0};
  std::atomic<int64_t> count{0};        // live buffers
  std::atomic<int64_t> total_count{0};  // ever made

  std::atomic<int64_t> launch_peak{0};  // `allocated` plus the temporaries of a program, at launch

  // A program with so many bytes of temporaries was launched.
  void AddLaunch(int64_t temporaries);
  void Add(int64_t bytes);
  void Remove(int64_t bytes);
  static MemoryAccount& Get();
};

class InFlight;
class Region;

// Immutable once made, but for the move from deferred to a buffer or an error. Shared between
// handles (a device clone shares); a value held by exactly one handle may be donated.
class Value : public RefCounted<Value> {
 public:
  enum class State : uint8_t {
    kBuffer,    // a PJRT buffer, ready or still being computed
    kSplat,     // every element is `splat`; no device memory until somebody needs bytes
    kTraced,    // output `output` of node `node` of `trace`; node -1 is placeholder `output`
    kDeferred,  // recorded and not computed: result `output` of recorded call `number`
    kError,     // computing it failed: `error`
  };

  static Ref<Value> Buffer(const TensorType* type, pjrt::Buffer buffer, const char* origin);
  static Ref<Value> Splat(const TensorType* type, ScalarBits bits);
  static Ref<Value> Traced(const TensorType* type, uint64_t trace, int node, int output);
  static Ref<Value> Deferred(const TensorType* type, uint64_t number, int output,
                             const char* origin);
  static Ref<Value> Error(const TensorType* type, Status status);
  ~Value();

  const TensorType& type() const { return *type_; }
  const TensorType* type_ptr() const { return type_; }
  State state() const { return state_.load(std::memory_order_acquire); }
  const pjrt::Buffer& buffer() const { return buffer_; }
  ScalarBits splat() const { return splat_; }
  uint64_t trace() const { return trace_; }  // id of the Trace that it belongs to
  int node() const { return node_; }
  int output() const { return output_; }
  // The recorded call that it is a result of; stays known after the value was computed. 0: none.
  uint64_t number() const { return state() == State::kTraced ? 0 : trace_; }
  const Status& error() const { return error_; }
  // Name of the operator that made it ("aten::add.Tensor"); a string with static lifetime.
  const char* origin() const { return origin_; }
  int64_t bytes() const { return bytes_; }
  // The buffer's memory passes to a result of the execution that it was donated to: it is accounted
  // there.
  void MarkDonated();

  // A deferred value becomes a buffer or an error, once.
  void Fulfil(pjrt::Buffer buffer);
  void Fail(Status status);
  // The region that computes it, once it was sent; guarded by the recorder.
  const std::shared_ptr<Region>& region() const { return region_; }
  void set_region(std::shared_ptr<Region> region) { region_ = std::move(region); }

 private:
  explicit Value(const TensorType* type) : type_(type) {}

  const TensorType* type_;
  std::atomic<State> state_{State::kSplat};
  int node_ = 0;
  int output_ = 0;
  pjrt::Buffer buffer_;
  ScalarBits splat_;
  uint64_t trace_ = 0;
  const char* origin_ = "";
  int64_t bytes_ = 0;  // accounted
  Status error_;
  std::shared_ptr<Region> region_;

  // Links of the list that it is tracked in; guarded by that list.
  std::atomic<InFlight*> in_flight_{nullptr};
  Value* previous_ = nullptr;
  Value* next_ = nullptr;

  friend class RefCounted<Value>;
  friend class InFlight;
};

using ValueRef = Ref<Value>;

}  // namespace torch_tpu::graph
