// Python's view of a capture.
#include "bindings/capture.h"

#include "device/capture.h"
#include "device/handle.h"

namespace torch_tpu::bindings {
namespace {

// (dtype, shape) of each.
py::list Types(const std::vector<graph::TensorType>& types) {
  py::list out;
  for (const auto& type : types) {
    const at::ScalarType dtype = device::ToScalarType(type.dtype);
    out.append(py::make_tuple(dtype, py::tuple(py::cast(type.dims))));
  }
  return out;
}

py::dict Finish(device::Capture& capture, const std::vector<at::Tensor>& results) {
  device::CapturedModule module;
  {
    py::gil_scoped_release release;
    module = capture.Finish(results);
  }
  py::dict out;
  out["text"] = module.text;
  out["inputs"] = Types(module.inputs);
  out["outputs"] = Types(module.outputs);
  out["written"] = module.written;
  out["num_found"] = module.num_found;
  out["num_seeds"] = module.num_seeds;
  out["operators"] = module.operators;
  return out;
}

}  // namespace

void DefineCapture(py::module_& m) {
  py::class_<device::Capture>(m, "_Capture")
      .def(py::init<bool>(), py::arg("keep_padding") = false)
      .def("placeholder",
           [](device::Capture& capture, at::ScalarType dtype, const std::vector<int64_t>& sizes,
              const std::vector<int64_t>& strides) {
             return capture.Placeholder(dtype, sizes, strides);
           })
      .def("finish", &Finish)
      .def("abandon", &device::Capture::Abandon);
}

}  // namespace torch_tpu::bindings
