// The signature of one call, written while its arguments are walked: what decides the program
// (words) and what differs from launch to launch (operands).
//
// Two calls of one operator with equal words run the same program. Words are split into structure
// and sizes, so that the program cache can tell a new structure from a new size.
#pragma once

#include <ATen/core/TensorBase.h>
#include <c10/core/Scalar.h>

#include <complex>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "device/handle.h"
#include "graph/call_spec.h"
#include "graph/runtime.h"

namespace torch_tpu::device {

// One tensor argument as the signature saw it.
struct TensorUse {
  const c10::TensorImpl* impl = nullptr;
  ValueRef value;    // its base; null for a host number
  int operand = -1;  // base value or element; -1: a known splat, or a base that is not read
  int first_start = -1;
  DType dtype = DType::kInvalid;
  bool whole = true;
  bool dynamic = false;
  bool splat_operand = false;
  bool host_number = false;  // 0-dim CPU tensor
  bool wrapped = false;      // a Python number in a tensor's clothes (for promotion)
  int number = -1;           // host_number: index into numbers, -1 when a constant
};

// A Python number (or the element of a 0-dim host tensor).
struct NumberUse {
  DType dtype = DType::kInvalid;  // kS64, kF64, kPred, kC128
  std::complex<double> value;     // exact for |integers| <= 2^53; otherwise `integer`
  int64_t integer = 0;
  bool constant = false;
  int operand = -1;
};

class Signature {
 public:
  void Clear();

  // A device tensor that is read (and maybe written). The returned index is into uses().
  int AddTensor(const c10::TensorImpl& tensor);
  // A device tensor that is only written: its base is an operand only when the write leaves some of
  // it.
  int AddOutput(const c10::TensorImpl& tensor);
  // A 0-dim host tensor.
  int AddHostNumber(const at::TensorBase& tensor);
  // `is_static`: the number is part of the program.
  int AddNumber(const c10::Scalar& number, bool is_static);
  void AddNone() { Structure(kNone); }

  // Static attributes.
  void AddInt(int64_t v) {
    Structure(kInt);
    Structure(static_cast<uint64_t>(v));
  }
  void AddInts(c10::ArrayRef<int64_t> v);
  void AddString(std::string_view v);
  void AddListBegin(size_t size) {
    Structure(kList);
    Structure(size);
  }
  // Flags of the mode (debug, precision, ...), first.
  void AddMode(uint64_t bits) { Structure(bits); }

  // Adds the operands of numbers; `seeds` random (seed, offset) operands follow. Call once, after
  // the last argument.
  void Finish();

  const std::vector<uint64_t>& structure() const { return structure_; }
  const std::vector<uint64_t>& sizes() const { return sizes_; }
  uint64_t Hash() const;
  std::vector<graph::OperandRef>& operands() { return operands_; }
  // Scratch for the results of the call.
  std::vector<ValueRef>& results() { return results_; }
  const std::vector<TensorUse>& uses() const { return uses_; }
  const std::vector<NumberUse>& numbers() const { return numbers_; }
  bool wide() const { return wide_; }  // float numbers are float64 operands

  // What the program needs to know of use `i`; plans are made here (slow path).
  graph::TensorSpec SpecOf(int use) const;
  graph::NumberSpec NumberSpecOf(int number) const;
  graph::TensorType OperandType(int operand) const;

 private:
  enum Tag : uint64_t {
    kNone = 1,
    kInt,
    kInts,
    kString,
    kList,
    kTensor,
    kOutput,
    kHostNumber,
    kNumber
  };

  void Structure(uint64_t w) { structure_.push_back(w); }
  void Size(uint64_t w) { sizes_.push_back(w); }
  int AddUse(const c10::TensorImpl& tensor, Tag tag, bool read);
  int PushNumber(NumberUse number);

  std::vector<uint64_t> structure_;
  std::vector<uint64_t> sizes_;
  std::vector<graph::OperandRef> operands_;
  std::vector<TensorUse> uses_;
  std::vector<NumberUse> numbers_;
  std::vector<int64_t> starts_;
  std::vector<ValueRef> results_;
  bool wide_ = false;
};

}  // namespace torch_tpu::device
