// Bindings of the program cache.
#pragma once

#include <pybind11/pybind11.h>

namespace torch_tpu::bindings {

void DefineCache(pybind11::module_& m);

}  // namespace torch_tpu::bindings
