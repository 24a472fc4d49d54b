// torch_tpu._C: what Python sees of the device. No logic.
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

#include "base/env.h"
#include "bindings/autograd_threads.h"
#include "bindings/bare_execute.h"
#include "bindings/cache.h"
#include "bindings/capture.h"
#include "bindings/decompositions.h"
#include "bindings/python_gate.h"
#include "device/errors.h"
#include "device/fallback.h"
#include "device/generator.h"
#include "device/hooks.h"
#include "device/host_ops.h"
#include "device/mode.h"
#include "device/precision.h"
#include "device/register.h"
#include "device/stream.h"
#include "graph/deferred.h"
#include "graph/runtime.h"
#include "graph/sender.h"
#include "ops/call.h"

namespace torch_tpu::bindings {
namespace {

using device::ValueOrThrow;

graph::Runtime& RuntimeOrThrow() {
  py::gil_scoped_release release;
  return *ValueOrThrow(graph::Runtime::Get());
}

std::string CurrentPythonLine() {
  if (!Py_IsInitialized()) return {};
  py::gil_scoped_acquire gil;
  // The innermost frame outside of PyTorch; autograd's threads may have no frame at all.
  PyFrameObject* innermost = PyEval_GetFrame();
  if (innermost == nullptr) return {};
  for (auto frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(innermost));
       !frame.is_none(); frame = frame.attr("f_back")) {
    const std::string file = frame.attr("f_code").attr("co_filename").cast<std::string>();
    if (file.find("/torch/") != std::string::npos || file.find("/torch_tpu/") != std::string::npos)
      continue;
    return file + ":" + std::to_string(frame.attr("f_lineno").cast<int>()) + " in " +
           frame.attr("f_code").attr("co_name").cast<std::string>();
  }
  return {};
}

void WarnInPython(const std::string& text) {
  py::gil_scoped_acquire gil;
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) throw py::error_already_set();
}

void Init() {
  device::SetWarnFunction(&WarnInPython);
  device::RegisterHooks();
  device::RegisterOperators();
  device::SetPythonLineFunction(&CurrentPythonLine);
}

device::Mode ParseMode(const std::string& name) {
  if (name == "strict") return device::Mode::kStrict;
  if (name == "debug") return device::Mode::kDebug;
  if (name == "defer") return device::Mode::kDefer;
  throw py::value_error("unknown eager mode '" + name + "': expected 'strict', 'debug' or 'defer'");
}

std::map<std::string, int64_t> CounterValues() {
  const auto& c = graph::Counters::Get();
  return {{"launches", c.launches.load()},
          {"compiles", c.compiles.load()},
          {"compile_microseconds", c.compile_microseconds.load()},
          {"host_to_device", c.host_to_device.load()},
          {"device_to_host", c.device_to_host.load()},
          {"fallbacks", c.fallbacks.load()},
          {"traces", c.traces.load()}};
}

std::map<std::string, int64_t> MemoryStats() {
  const auto& a = graph::MemoryAccount::Get();
  return {{"allocated_bytes.all.current", a.allocated.load()},
          {"allocated_bytes.all.peak", a.peak.load()},
          {"launch_bytes.all.peak", a.launch_peak.load()},
          {"allocation.all.current", a.count.load()},
          {"allocation.all.allocated", a.total_count.load()}};
}

void ResetPeak() {
  auto& a = graph::MemoryAccount::Get();
  a.peak.store(a.allocated.load());
  a.launch_peak.store(0);
}

py::list EnvVariables() {
  py::list out;
  for (const auto& v : env::List()) {
    py::dict d;
    d["name"] = v.name;
    d["type"] = v.type;
    d["default"] = v.default_value;
    d["stage"] = v.stage;
    d["help"] = v.help;
    d["value"] = v.value;
    out.append(d);
  }
  return out;
}

py::list Lowerings() {
  py::list out;
  for (const auto* entry : ops::AllLowerings())
    out.append(py::make_tuple(entry->name, entry->file, entry->line));
  return out;
}

std::map<std::string, std::string> HostOperatorReasons() {
  std::map<std::string, std::string> reasons;
  for (const device::HostOperator& host : device::HostOperators()) reasons[host.base] = host.reason;
  return reasons;
}

std::map<std::string, std::string> RuntimeInfo() {
  const graph::Runtime& runtime = RuntimeOrThrow();
  const auto& client = runtime.client();
  std::map<std::string, std::string> info = client.plugin().attributes();
  info["plugin"] = runtime.plugin_path();
  info["platform"] = client.platform_name();
  info["platform_version"] = client.platform_version();
  info["device_kind"] = client.DeviceKind();
  info["pjrt_api"] = std::to_string(client.plugin().api_major()) + "." +
                     std::to_string(client.plugin().api_minor());
  return info;
}

std::vector<std::array<uint64_t, 3>> TakeRegionKeys() {
  std::vector<std::array<uint64_t, 3>> out;
  for (const cache::Key& key : graph::Recorder::Get().TakeKeys()) {
    out.push_back({key.structure, key.sizes, key.options});
  }
  return out;
}

void Define(py::module_& m) {
  m.def("_init", &Init);
  m.def("_set_plugin_candidates", &graph::Runtime::SetPluginCandidates);
  m.def("_set_decomposition_lookup", &SetDecompositionLookup);
  m.def("_is_initialized", &graph::Runtime::initialized);
  m.def("_initialize", [] { RuntimeOrThrow(); });
  m.def(
      "_shutdown",
      [] {
        EndAutogradThreads();
        graph::Runtime::ShutDown();
        PythonGate::Get().Close();
      },
      py::call_guard<py::gil_scoped_release>());
  m.def("_synchronize", &device::SynchronizeAll, py::call_guard<py::gil_scoped_release>());
  m.def("_default_generator", [] {
    return py::reinterpret_steal<py::object>(
        THPGenerator_initDefaultGenerator(device::DefaultGenerator()));
  });
  m.def("_memory_stats", &MemoryStats);
  m.def("_reset_peak_memory_stats", &ResetPeak);
  m.def("_empty_cache", [] {});
  m.def("_counters", &CounterValues);
  m.def("_reset_counters", [] { graph::Counters::Get().Reset(); });
  m.def("_push_mode", [](const std::string& name) { device::PushMode(ParseMode(name)); });
  m.def("_pop_mode", &device::PopMode, py::call_guard<py::gil_scoped_release>());
  m.def(
      "_send_deferred", [] { graph::Recorder::Get().Send(); },
      py::call_guard<py::gil_scoped_release>());
  m.def("_take_region_keys", &TakeRegionKeys);
  const auto optional_name = [](std::optional<shlo::Precision> p) -> std::optional<std::string> {
    if (!p) return std::nullopt;
    return device::PrecisionName(*p);
  };
  const auto named = [](const std::optional<std::string>& name) -> std::optional<shlo::Precision> {
    if (!name) return std::nullopt;
    return device::PrecisionNamed(*name);
  };
  m.def("_set_thread_precision", [=](const std::optional<std::string>& name) {
    return optional_name(device::SetThreadPrecision(named(name)));
  });
  m.def("_set_default_precision", [=](const std::optional<std::string>& name) {
    return optional_name(device::SetDefaultPrecision(named(name)));
  });
  m.def("_default_precision", [=] { return optional_name(device::DefaultPrecision()); });
  m.def("_current_precision",
        [] { return std::string(device::PrecisionName(device::CurrentPrecision())); });
  m.def("_get_mode", [] { return std::string(device::ModeName(device::CurrentMode())); });
  m.def("_set_cpu_fallback", &device::SetCpuFallback);
  m.def("_fallback_counts", &device::FallbackCounts);
  m.def("_host_operators", &HostOperatorReasons);
  m.def("_host_operator_counts", &device::HostOperatorCounts);
  m.def("_env_variables", &EnvVariables);
  m.def("_lowerings", &Lowerings);
  m.def("_runtime_info", &RuntimeInfo);
  DefineCapture(m);
  DefineCache(m);
  m.def("_run_module", &RunModule);
  m.def("_bare_execute_us", &BareExecuteMicroseconds, py::call_guard<py::gil_scoped_release>());
}

}  // namespace

// A kernel that does nothing, for measuring what PyTorch's dispatcher itself costs.
TORCH_LIBRARY(torch_tpu, m) { m.def("_empty(Tensor a, Tensor b) -> Tensor"); }

void EmptyKernel(const c10::OperatorHandle&, torch::jit::Stack* stack) { stack->pop_back(); }

TORCH_LIBRARY_IMPL(torch_tpu, PrivateUse1, m) {
  m.impl("_empty", torch::CppFunction::makeFromBoxedFunction<&EmptyKernel>());
}

PYBIND11_MODULE(_C, m) {
  m.doc() = "TorchTPU's device, written in C++.";
  Define(m);
}

}  // namespace torch_tpu::bindings
