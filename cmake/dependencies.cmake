# Finds what the build needs from outside: Python, the PJRT C API header and CPU plugin, GoogleTest and PyTorch.

find_package(Threads REQUIRED)
if(TORCH_TPU_CORE_ONLY)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
else()
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
endif()

# Sets OUT to the directory of a Python package, or to nothing. The package is not imported.
function(torch_tpu_python_package OUT NAME)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c "import importlib.util as u
s = u.find_spec('${NAME}')
print(list(s.submodule_search_locations)[0] if s and s.submodule_search_locations else '')"
    OUTPUT_VARIABLE location OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${OUT} "${location}" PARENT_SCOPE)
endfunction()

torch_tpu_python_package(cpu_plugin_dir xla_plugins.xla_cpu_pjrt)
set(TORCH_TPU_PJRT_INCLUDE "" CACHE PATH "Directory of pjrt_c_api.h; empty: from the xla-cpu-pjrt wheel")
set(TORCH_TPU_CPU_PLUGIN "" CACHE FILEPATH "CPU plugin that tests use; empty: from the xla-cpu-pjrt wheel")

set(TORCH_TPU_PJRT_INCLUDE_DIR "${TORCH_TPU_PJRT_INCLUDE}")
if(NOT TORCH_TPU_PJRT_INCLUDE_DIR)
  set(TORCH_TPU_PJRT_INCLUDE_DIR "${cpu_plugin_dir}/include")
endif()
file(GLOB_RECURSE pjrt_header "${TORCH_TPU_PJRT_INCLUDE_DIR}/pjrt_c_api.h")
if(NOT pjrt_header)
  message(FATAL_ERROR
    "pjrt_c_api.h was not found in '${TORCH_TPU_PJRT_INCLUDE_DIR}' (Python: ${Python3_EXECUTABLE}). "
    "Run `pip install xla-cpu-pjrt` in that Python, or set TORCH_TPU_PJRT_INCLUDE.")
endif()
list(GET pjrt_header 0 pjrt_header)
cmake_path(GET pjrt_header PARENT_PATH TORCH_TPU_PJRT_INCLUDE_DIR)

set(TORCH_TPU_CPU_PLUGIN_PATH "${TORCH_TPU_CPU_PLUGIN}")
if(NOT TORCH_TPU_CPU_PLUGIN_PATH)
  set(TORCH_TPU_CPU_PLUGIN_PATH "${cpu_plugin_dir}/xla_cpu_pjrt.so")
endif()
if(TORCH_TPU_BUILD_TESTS AND NOT EXISTS "${TORCH_TPU_CPU_PLUGIN_PATH}")
  message(FATAL_ERROR
    "The tests need a CPU plugin and '${TORCH_TPU_CPU_PLUGIN_PATH}' does not exist. "
    "Run `pip install xla-cpu-pjrt` in ${Python3_EXECUTABLE}, set TORCH_TPU_CPU_PLUGIN, "
    "or configure with -DTORCH_TPU_BUILD_TESTS=OFF.")
endif()

if(TORCH_TPU_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()

find_program(TORCH_TPU_CCACHE ccache)
if(TORCH_TPU_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TORCH_TPU_CCACHE})
endif()

# torch_tpu::torch: the headers and libraries of the PyTorch in that Python, without the cost of find_package(Torch).
if(NOT TORCH_TPU_CORE_ONLY)
  torch_tpu_python_package(torch_dir torch)
  if(NOT torch_dir)
    message(FATAL_ERROR "PyTorch was not found in ${Python3_EXECUTABLE}. Install torch, or configure with "
                        "-DTORCH_TPU_CORE_ONLY=ON for the layers that do not need it.")
  endif()
  add_library(torch_tpu_torch INTERFACE)
  add_library(torch_tpu::torch ALIAS torch_tpu_torch)
  target_include_directories(torch_tpu_torch SYSTEM INTERFACE
    ${torch_dir}/include ${torch_dir}/include/torch/csrc/api/include)
  target_link_directories(torch_tpu_torch INTERFACE ${torch_dir}/lib)
  target_link_libraries(torch_tpu_torch INTERFACE torch_cpu c10)
  list(APPEND CMAKE_BUILD_RPATH ${torch_dir}/lib)

  # Adds libtorch_python, pybind11 (shipped with PyTorch) and Python.h, for the bindings.
  add_library(torch_tpu_torch_python INTERFACE)
  add_library(torch_tpu::torch_python ALIAS torch_tpu_torch_python)
  target_link_libraries(torch_tpu_torch_python INTERFACE torch_tpu_torch torch_python torch Python3::Module)
endif()
