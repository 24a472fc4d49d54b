// Reading schemas: argument kinds, forms, functional siblings, foreach bases.
#include "device/op_info.h"

#include <ATen/core/function_schema.h>

#include <algorithm>
#include <set>

#include "ops/index_padded.h"

namespace torch_tpu::device {
namespace {

using c10::TypeKind;

bool IsOutArg(const c10::Argument& a) { return a.is_out(); }

bool IsWritten(const c10::Argument& a) {
  return a.alias_info() != nullptr && a.alias_info()->isWrite();
}

// Element kind of a list type, looking through Optional.
c10::TypePtr Unwrap(const c10::TypePtr& type, bool* optional) {
  if (type->kind() == TypeKind::OptionalType) {
    *optional = true;
    return type->castRaw<c10::OptionalType>()->getElementType();
  }
  return type;
}

// Operators whose schema does not mark what they write: argument -> functional result that goes
// there.
const std::set<std::string>& StatisticsWriters() {
  static const auto* names = new std::set<std::string>{"aten::native_batch_norm"};
  return *names;
}

const std::set<std::string>& IndexOperators() {
  static const auto* names = new std::set<std::string>{
      "aten::index",          "aten::index_put",         "aten::index_put_",
      "aten::_unsafe_index",  "aten::_unsafe_index_put", "aten::_index_put_impl_",
      "aten::_index_put_impl"};
  return *names;
}

bool SameType(const c10::Argument& a, const c10::Argument& b) { return *a.type() == *b.type(); }

std::vector<const c10::Argument*> InputArgs(const c10::FunctionSchema& schema) {
  std::vector<const c10::Argument*> args;
  for (const auto& a : schema.arguments()) {
    if (!IsOutArg(a)) args.push_back(&a);
  }
  return args;
}

// All overloads of a base name, from one walk over the dispatcher.
const std::vector<c10::OperatorName>& OverloadsOf(const std::string& base) {
  static const auto* all = [] {
    auto* map = new std::unordered_map<std::string, std::vector<c10::OperatorName>>();
    for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
      if (name.name.rfind("aten::", 0) == 0) (*map)[name.name].push_back(name);
    }
    return map;
  }();
  static const auto* none = new std::vector<c10::OperatorName>();
  auto it = all->find(base);
  return it == all->end() ? *none : it->second;
}

bool IsFunctional(const c10::FunctionSchema& schema) {
  return std::none_of(schema.arguments().begin(), schema.arguments().end(), IsWritten);
}

bool ArgsMatch(const c10::FunctionSchema& candidate,
               const std::vector<const c10::Argument*>& args) {
  const auto& other = candidate.arguments();
  size_t j = 0;
  for (const auto& a : other) {
    // A functional sibling may take factory options (dtype, layout, device, pin_memory) that out=
    // does not.
    if (j < args.size() && a.name() == args[j]->name() && SameType(a, *args[j])) {
      ++j;
      continue;
    }
    const bool option = a.name() == "dtype" || a.name() == "layout" || a.name() == "device" ||
                        a.name() == "pin_memory";
    if (!option) return false;
  }
  return j == args.size();
}

// How well a foreach argument serves as a base argument.
bool ForeachMatches(const c10::Argument& foreach, const c10::Argument& base) {
  bool optional = false;
  const ArgKind f = KindOf(foreach);
  const ArgKind b = KindOf(base);
  (void)Unwrap(base.type(), &optional);
  if (b == ArgKind::kTensor) {
    return f == ArgKind::kTensorList || f == ArgKind::kTensor || f == ArgKind::kNumber ||
           f == ArgKind::kNumberList;
  }
  if (b == ArgKind::kNumber) return f == ArgKind::kNumber || f == ArgKind::kNumberList;
  return f == b;
}

std::optional<ForeachForm> MatchForeach(const c10::FunctionSchema& foreach,
                                        const c10::FunctionSchema& base) {
  if (!IsFunctional(base)) return std::nullopt;
  ForeachForm form;
  const auto inputs = InputArgs(foreach);
  size_t used = 0;
  for (const auto& b : base.arguments()) {
    int from = -1;
    // By name first (alpha, value, ...), otherwise the next argument in order.
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i]->name() == b.name() && ForeachMatches(*inputs[i], b))
        from = static_cast<int>(i);
    }
    if (from < 0 && used < inputs.size() && !b.kwarg_only() && ForeachMatches(*inputs[used], b)) {
      from = static_cast<int>(used);
    }
    if (from < 0) {
      if (!b.default_value()) return std::nullopt;
      form.defaults.push_back(*b.default_value());
    } else {
      ++used;
      form.defaults.emplace_back();
    }
    form.kinds.push_back(KindOf(b));
    form.from.push_back(from);
  }
  if (used != inputs.size()) return std::nullopt;
  return form;
}

std::optional<ForeachForm> FindForeach(const c10::FunctionSchema& schema) {
  static const auto* renamed =
      new std::unordered_map<std::string, std::string>{{"norm", "linalg_vector_norm"}};
  constexpr std::string_view kPrefix = "aten::_foreach_";
  std::string base = schema.name().substr(kPrefix.size());
  if (!base.empty() && base.back() == '_') base.pop_back();
  if (auto it = renamed->find(base); it != renamed->end()) base = it->second;
  std::optional<ForeachForm> best;
  for (const auto& name : OverloadsOf("aten::" + base)) {
    auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op) continue;
    auto form = MatchForeach(schema, op->schema());
    if (!form) continue;
    form->base_name = FullName(name);
    form->lowering = ops::FindLowering(form->base_name);
    if (form->lowering == nullptr) continue;
    // Prefer the overload of the same name ("Scalar" for "Scalar"), else the first.
    const bool same = name.overload_name == schema.overload_name();
    if (!best || same) best = std::move(form);
    if (same) break;
  }
  return best;
}

}  // namespace

std::string FullName(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

ArgKind KindOf(const c10::Argument& argument) {
  bool optional = false;
  c10::TypePtr type = Unwrap(argument.real_type(), &optional);
  switch (type->kind()) {
    case TypeKind::TensorType:
      return ArgKind::kTensor;
    case TypeKind::NumberType:
    case TypeKind::FloatType:
    case TypeKind::ComplexType:
      return ArgKind::kNumber;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return ArgKind::kInt;
    case TypeKind::BoolType:
      return argument.name() == "pin_memory" ? ArgKind::kIgnored : ArgKind::kBool;
    case TypeKind::StringType:
      return ArgKind::kString;
    case TypeKind::ScalarTypeType:
      return ArgKind::kDType;
    case TypeKind::GeneratorType:
      return ArgKind::kGenerator;
    case TypeKind::ListType:
      break;
    default:
      return ArgKind::kIgnored;
  }
  bool optional_element = false;
  c10::TypePtr element =
      Unwrap(type->castRaw<c10::ListType>()->getElementType(), &optional_element);
  switch (element->kind()) {
    case TypeKind::TensorType:
      return optional_element ? ArgKind::kOptTensorList : ArgKind::kTensorList;
    case TypeKind::NumberType:
    case TypeKind::FloatType:
      return ArgKind::kNumberList;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return ArgKind::kInts;
    case TypeKind::BoolType:
      return ArgKind::kBools;
    default:
      return ArgKind::kIgnored;
  }
}

std::optional<c10::OperatorHandle> FindFunctional(const c10::OperatorHandle& op) {
  const auto& schema = op.schema();
  if (IsFunctional(schema)) return op;
  std::string base = schema.name();
  // add_ -> add, but __iand__ -> __and__ has no meaning here and keeps its own name.
  if (base.size() > 1 && base.back() == '_' && base[base.size() - 2] != '_') base.pop_back();
  const auto args = InputArgs(schema);
  for (const std::string& candidate : {base, base + "_functional", schema.name()}) {
    for (const auto& name : OverloadsOf(candidate)) {
      auto found = c10::Dispatcher::singleton().findSchema(name);
      if (found && IsFunctional(found->schema()) && ArgsMatch(found->schema(), args)) return found;
    }
  }
  return std::nullopt;
}

OpInfo::OpInfo(const c10::OperatorHandle& handle)
    : op(handle), name(FullName(handle.operator_name())) {
  const auto& schema = op.schema();
  functional = FindFunctional(op);
  functional_name = functional ? FullName(functional->operator_name()) : name;
  lowering = ops::FindLowering(functional_name);
  if (lowering == nullptr) lowering = ops::FindLowering(name);
  if (schema.name().rfind("aten::_foreach_", 0) == 0)
    foreach
      = FindForeach(schema);
  padded = !ops::PaddedOutputs(functional_name).empty();
  expands_masks = moves_indices = IndexOperators().count(schema.name()) > 0;

  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto& a = schema.arguments()[i];
    ArgInfo info;
    info.name = a.name();
    info.kind = KindOf(a);
    info.out = IsOutArg(a);
    info.written = IsWritten(a);
    if (lowering != nullptr) {
      const auto& fixed = lowering->options.static_numbers;
      info.static_number =
          std::find(fixed.begin(), fixed.end(), static_cast<int>(i)) != fixed.end();
    }
    if (info.out) form = Form::kOut;
    if (info.written && !info.out && form == Form::kFunctional) form = Form::kMutating;
    if (info.written) written.push_back(static_cast<int>(i));
    if (info.kind == ArgKind::kGenerator) generator = static_cast<int>(i);
    if (info.kind == ArgKind::kDType && name.find("linalg") == std::string::npos)
      out_dtype = static_cast<int>(i);
    args.push_back(std::move(info));
  }
  if (StatisticsWriters().count(schema.name()) > 0 && form == Form::kFunctional) {
    form = Form::kMutating;
    for (int i : {3, 4}) {
      args[i].written = true;
      written.push_back(i);
    }
  }
  for (int w : written)
    writes_list |= args[w].kind == ArgKind::kTensorList && form == Form::kMutating;
  const bool statistics = std::any_of(args.begin(), args.end(), [](const ArgInfo& a) {
    return a.written && a.name == "running_mean";
  });
  for (size_t i = 0; statistics && i < args.size(); ++i) {
    if (args[i].name == "training") training = static_cast<int>(i);
  }
  for (const auto& r : schema.returns()) {
    int target = -1;
    if (r.alias_info() != nullptr) {
      for (size_t i = 0; i < schema.arguments().size(); ++i) {
        const auto* info = schema.arguments()[i].alias_info();
        if (info != nullptr && info->beforeSets() == r.alias_info()->beforeSets())
          target = static_cast<int>(i);
      }
    }
    const auto kind = r.type()->kind();
    if (target < 0 && kind != TypeKind::TensorType && kind != TypeKind::ListType)
      target = kNoTensor;
    returns.push_back(target);
    num_fresh_returns += target == -1;
  }
}

}  // namespace torch_tpu::device
