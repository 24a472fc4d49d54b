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

// Operators whose schema does not mark that they write their running mean and variance: the
// position of the mean, which the variance follows; -1 for all others.
int RunningStatistics(const std::string& name) {
  if (name == "aten::native_batch_norm" || name == "aten::batch_norm_gather_stats_with_counts")
    return 3;
  return name == "aten::batch_norm_update_stats" ? 1 : -1;
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

// The overload of the same name and arguments that has no out=.
std::optional<c10::OperatorHandle> FindWithoutOut(const c10::FunctionSchema& schema) {
  const auto args = InputArgs(schema);
  for (const auto& name : OverloadsOf(schema.name())) {
    auto found = c10::Dispatcher::singleton().findSchema(name);
    if (!found) continue;
    const auto& others = found->schema().arguments();
    if (std::none_of(others.begin(), others.end(), IsOutArg) && ArgsMatch(found->schema(), args))
      return found;
  }
  return std::nullopt;
}

std::optional<ForeachForm> FindForeach(const c10::OperatorName& name) {
  auto form = ops::ForeachOf(FullName(name));
  if (!form.ok()) return std::nullopt;
  ForeachForm found;
  found.lowering = ops::FindLowering(form->base);
  if (found.lowering == nullptr) return std::nullopt;
  found.args = std::move(form->args);
  for (const ops::ForeachArg& arg : found.args) {
    if (arg.kind == ops::ForeachArg::kEntry) found.entries = arg.position;
  }
  return found;
}

bool Contains(const std::vector<int>& list, int i) {
  return std::find(list.begin(), list.end(), i) != list.end();
}

// Whether the number at `argument` decides the program's structure, for the operator's own lowering
// or the one that its foreach form applies.
bool DecidesStructure(const OpInfo& info, int argument) {
  if (info.lowering != nullptr) return Contains(info.lowering->options.static_numbers, argument);
  for (size_t b = 0; info.foreach && b < info.foreach->args.size(); ++b) {
    if (info.foreach->args[b].position == argument &&
        Contains(info.foreach->lowering->options.static_numbers, static_cast<int>(b)))
      return true;
  }
  return false;
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
      = FindForeach(op.operator_name());
  const ops::LoweringEntry* base = foreach ? foreach->lowering : lowering;
  precision = base == nullptr || base->options.precision;
  padded = !ops::PaddedOutputs(functional_name).empty();
  number_check = FindNumberCheck(schema.name());
  expands_masks = moves_indices = IndexOperators().count(schema.name()) > 0;

  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto& a = schema.arguments()[i];
    ArgInfo info;
    info.name = a.name();
    info.kind = KindOf(a);
    info.out = IsOutArg(a);
    info.written = IsWritten(a);
    info.static_number = DecidesStructure(*this, static_cast<int>(i));
    info.static_integer =
        lowering != nullptr && Contains(lowering->options.static_integers, static_cast<int>(i));
    if (info.out) form = Form::kOut;
    if (info.written && !info.out && form == Form::kFunctional) form = Form::kMutating;
    if (info.written) written.push_back(static_cast<int>(i));
    if (info.kind == ArgKind::kGenerator) generator = static_cast<int>(i);
    // Out= forms that PyTorch derived from the functional one want its dtype.
    if (info.kind == ArgKind::kDType && name.find("linalg") == std::string::npos &&
        !op.hasTag(at::Tag::generated))
      out_dtype = static_cast<int>(i);
    args.push_back(std::move(info));
  }
  if (const int mean = RunningStatistics(schema.name()); mean >= 0 && form == Form::kFunctional) {
    form = Form::kMutating;
    for (int i : {mean, mean + 1}) {
      args[i].written = true;
      written.push_back(i);
    }
  }
  // Shapes that no Meta kernel knows: out= is the functional form and a copy here too.
  padded |=
      form == Form::kOut && functional && lowering != nullptr && lowering->options.shape != nullptr;
  const bool lists = std::any_of(args.begin(), args.end(), [](const ArgInfo& a) {
    return a.written && a.kind != ArgKind::kTensor;
  });
  const bool writes_others =
      RunningStatistics(schema.name()) >= 0 ||
      std::any_of(args.begin(), args.end(), [](const ArgInfo& a) { return a.written && !a.out; });
  if (form == Form::kOut && writes_others && !lists) without_out = FindWithoutOut(schema);
  padded |= without_out.has_value();
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
