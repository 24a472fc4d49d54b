// Reads the entry function's signature out of a textual StableHLO module; the fake plugin needs no
// more of it.
#pragma once

#include <pjrt_c_api.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torch_tpu::pjrt::fake {

struct Type {
  PJRT_Buffer_Type element = PJRT_Buffer_Type_INVALID;
  std::vector<int64_t> dims;  // bounds, where the type is dynamic

  int64_t bytes() const;
  std::string ToString() const;  // the PJRT number and the sizes, for messages
  bool operator==(const Type&) const = default;
};

struct Argument {
  Type type;
  int aliased_output = -1;  // tf.aliasing_output
};

struct Signature {
  std::vector<Argument> arguments;
  std::vector<Type> results;
};

// Reads `func.func public @main(%arg0: tensor<2x3xf32> {attributes}, ...) -> (tensor<...>, ...)`.
// On failure returns false and says why in `problem`.
bool ParseSignature(std::string_view module, Signature* signature, std::string* problem);

}  // namespace torch_tpu::pjrt::fake
