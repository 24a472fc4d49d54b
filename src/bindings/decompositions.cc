// Stack to Python arguments and back, for decompositions.
#include "bindings/decompositions.h"

#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/autograd/python_variable.h>

#include "device/boxed.h"
#include "device/op_info.h"

// Declared here because its header costs half a minute of compile time.
namespace torch::jit {
py::object toPyObject(c10::IValue ivalue);
}

namespace torch_tpu::bindings {
namespace {

using torch::jit::Stack;

py::object ToPython(const c10::Argument& arg, const c10::IValue& v) {
  if (!v.isNone() && device::KindOf(arg) == device::ArgKind::kDType) {
    return py::reinterpret_borrow<py::object>(
        reinterpret_cast<PyObject*>(torch::getTHPDtype(static_cast<c10::ScalarType>(v.toInt()))));
  }
  return torch::jit::toPyObject(v);
}

at::Tensor ToTensor(const std::string& name, py::handle h) {
  if (h.is_none()) return at::Tensor();
  TORCH_CHECK(THPVariable_Check(h.ptr()), name, ": its decomposition returned a ",
              py::str(h.get_type().attr("__name__")).cast<std::string>(),
              " where a tensor was expected");
  return THPVariable_Unpack(h.ptr());
}

c10::IValue ToIValue(const std::string& name, py::handle h, const c10::Argument& ret) {
  if (ret.type()->kind() == c10::TypeKind::ListType) {
    c10::List<at::Tensor> list;
    for (py::handle e : h) list.push_back(ToTensor(name, e));
    return list;
  }
  return ToTensor(name, h);
}

// Arguments at their default are left out: a decomposition need not know all of them.
void Run(const py::object& lookup, const c10::OperatorHandle& op, Stack* stack) {
  py::gil_scoped_acquire gil;
  const auto& schema = op.schema();
  const std::string name = device::FullName(op.operator_name());
  const size_t n = schema.arguments().size();
  Stack given(stack->end() - static_cast<int64_t>(std::min(n, stack->size())), stack->end());
  auto is_default = [&](size_t i) {
    const auto& fallback = schema.arguments()[i].default_value();
    return fallback && ((given[i].isNone() && fallback->isNone()) ||
                        (!given[i].isTensor() && !fallback->isNone() && !given[i].isNone() &&
                         *fallback == given[i]));
  };
  size_t positional = 0;
  while (positional < given.size() && !schema.arguments()[positional].kwarg_only()) ++positional;
  size_t last = positional;
  while (last > 0 && is_default(last - 1)) --last;
  py::tuple args(last);
  for (size_t i = 0; i < last; ++i) args[i] = ToPython(schema.arguments()[i], given[i]);
  py::dict kwargs;
  for (size_t i = positional; i < given.size(); ++i) {
    if (!is_default(i))
      kwargs[schema.arguments()[i].name().c_str()] = ToPython(schema.arguments()[i], given[i]);
  }
  py::object out = lookup(name)(*args, **kwargs);
  stack->clear();
  if (schema.returns().size() == 1) {
    stack->push_back(ToIValue(name, out, schema.returns()[0]));
    return;
  }
  size_t r = 0;
  for (py::handle e : out) stack->push_back(ToIValue(name, e, schema.returns()[r++]));
}

}  // namespace

void SetDecompositionLookup(py::object lookup) {
  // Kept for the life of the process: operators are called until the very end.
  auto* held = new py::object(std::move(lookup));
  auto* known = new std::unordered_map<std::string, bool>();  // guarded by the GIL
  device::SetDecompositions({
      [held, known](const std::string& name) {
        py::gil_scoped_acquire gil;
        auto it = known->find(name);
        if (it == known->end()) it = known->emplace(name, !(*held)(name).is_none()).first;
        return it->second;
      },
      [held](const c10::OperatorHandle& op, Stack* stack) { Run(*held, op, stack); },
  });
}

}  // namespace torch_tpu::bindings
