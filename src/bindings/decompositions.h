// Calling Python's decompositions from the device.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace torch_tpu::bindings {

// `lookup(name)` gives a callable or None.
void SetDecompositionLookup(py::object lookup);

}  // namespace torch_tpu::bindings
