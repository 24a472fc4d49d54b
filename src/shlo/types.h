// Types, values and attributes of a StableHLO module under construction.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace torch_tpu::shlo {

struct TensorType {
  DType dtype = DType::kInvalid;
  Dims dims;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool operator==(const TensorType&) const = default;
  // "tensor<2x3xf32>".
  std::string ToString() const;
};

// Thrown by every op builder when operands do not fit: the message names the op, what was expected
// and what was got. It never leaves the torch-free core: ops::BuildModule turns it into a Status.
// (An exception rather than a Status, so that a lowering reads as the formula that it is.)
class BuildError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Builder;

// An SSA value: cheap to copy, valid as long as its Builder. A default-made Value is empty.
class Value {
 public:
  Value() = default;
  Value(Builder* builder, int32_t id) : builder_(builder), id_(id) {}

  explicit operator bool() const { return builder_ != nullptr; }
  bool empty() const { return builder_ == nullptr; }  // `!v` is an operation, see sugar.h
  Builder& builder() const { return *builder_; }
  int32_t id() const { return id_; }

  const TensorType& type() const;
  DType dtype() const { return type().dtype; }
  const Dims& dims() const { return type().dims; }
  int64_t dim(int64_t i) const;  // negative counts from the end
  int64_t rank() const { return type().rank(); }

 private:
  Builder* builder_ = nullptr;
  int32_t id_ = -1;
};

// One line of the text: key = value, the value already in MLIR syntax ("dense<...> :
// tensor<2xi64>", "2 : i64").
struct Attribute {
  std::string name;
  std::string text;
};

}  // namespace torch_tpu::shlo
