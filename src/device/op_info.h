// What one ATen overload is to this device: its form, the lowering behind it, and how its arguments
// are walked.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/entry.h"
#include "device/number_check.h"
#include "ops/call.h"
#include "ops/foreach.h"

namespace torch_tpu::device {

enum class ArgKind : uint8_t {
  kTensor,         // Tensor, Tensor?
  kTensorList,     // Tensor[]
  kOptTensorList,  // Tensor?[]
  kNumber,         // Scalar, float, and their optional forms
  kNumberList,     // Scalar[], float[]
  kInt,            // int, int?
  kInts,           // int[], int[]?
  kBool,
  kBools,
  kString,
  kDType,
  kGenerator,
  kIgnored,  // Device, Layout, pin_memory, MemoryFormat: they shape the result, which Meta knows,
             // not the lowering
};

struct ArgInfo {
  std::string name;
  ArgKind kind = ArgKind::kIgnored;
  bool written = false;         // Tensor(a!)
  bool out = false;             // an out= argument: written, not read, resized
  bool static_number = false;   // its value is part of the program
  bool static_integer = false;  // the same, when it is an integer
};

// A _foreach_ overload as a base operator applied to every list element.
struct ForeachForm {
  const ops::LoweringEntry* lowering = nullptr;
  std::vector<ops::ForeachArg> args;  // of the base operator
  int entries = -1;  // position of a tensor whose entries are the numbers of the elements
};

enum class Form : uint8_t { kFunctional, kMutating, kOut };

struct OpInfo {
  explicit OpInfo(const c10::OperatorHandle& op);

  c10::OperatorHandle op;
  std::string name;             // "aten::add_.Tensor"
  std::string functional_name;  // "aten::add.Tensor": what the lowering is named by
  std::optional<c10::OperatorHandle> functional;
  // Of an out= overload that writes other arguments too (running statistics): the overload without
  // out=, which writes those.
  std::optional<c10::OperatorHandle> without_out;
  Form form = Form::kFunctional;
  std::vector<ArgInfo> args;
  std::vector<int> written;   // positions of written arguments, in schema order
  int num_fresh_returns = 0;  // returns that are new tensors
  // Return r of the schema: -1 for the next fresh tensor (or list), kNoTensor for a number,
  // otherwise the argument that it aliases.
  static constexpr int kNoTensor = -2;
  std::vector<int> returns;
  const ops::LoweringEntry* lowering = nullptr;
  std::optional<ForeachForm> foreach;
  NumberCheck number_check = nullptr;
  int training = -1;         // position of `training` when running statistics are written
  int out_dtype = -1;        // out= form: position of `dtype`, which out= decides when it is None
  int generator = -1;        // position of the Generator argument
  bool writes_list = false;  // an in-place form over Tensor[] without fresh results
  bool padded = false;       // results are as long as they can become; see ops/index_padded.h
  bool precision = false;    // its program depends on CurrentPrecision()
  bool expands_masks =
      false;  // index.Tensor and relatives: boolean indices become integer ones first
  bool moves_indices = false;  // host index tensors are accepted and moved

  EntryTable entries;
};

// The kind of a schema argument by its type.
ArgKind KindOf(const c10::Argument& argument);

// The functional overload whose arguments are those of `op` without out= arguments; nullopt when
// there is none.
std::optional<c10::OperatorHandle> FindFunctional(const c10::OperatorHandle& op);

// "aten::add.Tensor" or "aten::relu".
std::string FullName(const c10::OperatorName& name);

}  // namespace torch_tpu::device
