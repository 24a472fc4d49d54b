// How `_foreach_*` operators are made of base operators: one application of a lowering for each
// list element.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace torch_tpu::ops {

// One argument of the base operator.
struct ForeachArg {
  enum Kind : uint8_t {
    kElement,  // element i of the list (Tensor[] or Scalar[]) at `position` of the foreach operator
    kShared,   // the argument at `position`, the same for all elements
    kEntry,    // as a number: entry i of the rank-1 tensor at `position`
    kNumber,   // the number `value`
    kBool,     // the boolean `value`
    kNone,
  };
  Kind kind = kNone;
  int position = -1;
  double value = 0;
  bool operator==(const ForeachArg&) const = default;
};

struct ForeachForm {
  std::string base;              // "aten::add.Tensor"
  std::vector<ForeachArg> args;  // of its functional schema, all of them

  // "aten::add.Tensor(e0, s1, s2)": e element, s shared, t entry of a tensor; numbers, bools and
  // None as written.
  std::string ToString() const;
};

// `overload` is any form of a foreach operator: "aten::_foreach_add.List",
// "aten::_foreach_add_.List" (in place) or "aten::_foreach_add.List_out"; positions are those of
// the functional form. NOT_FOUND for other operators.
Result<ForeachForm> ForeachOf(std::string_view overload);

}  // namespace torch_tpu::ops
