// torch_tpu._C._Capture: recording a function for ahead-of-time compilation.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace torch_tpu::bindings {

void DefineCapture(py::module_& m);

}  // namespace torch_tpu::bindings
