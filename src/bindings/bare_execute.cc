// Timing of bare PJRT executions.
#include "bindings/bare_execute.h"

#include <chrono>
#include <regex>
#include <vector>

#include "device/errors.h"
#include "device/handle.h"
#include "device/stream.h"
#include "graph/runtime.h"

namespace torch_tpu::bindings {
namespace {

// float32 zeros for every argument of @main, with its dims.
std::vector<pjrt::Buffer> ZeroArguments(const std::string& module, const pjrt::Client& client) {
  const size_t begin = module.find("@main(");
  const size_t end = module.find("->", begin);
  const std::string head = module.substr(begin, end - begin);
  static const std::regex kArgument("tensor<([0-9x]*)f32>");
  std::vector<pjrt::Buffer> buffers;
  for (std::sregex_iterator it(head.begin(), head.end(), kArgument), last; it != last; ++it) {
    Dims dims;
    std::string text = (*it)[1];
    for (size_t p = 0; p < text.size();) {
      dims.push_back(std::stoll(text.substr(p)));
      p = text.find('x', p) + 1;
    }
    const std::vector<float> zeros(NumElements(dims));
    buffers.push_back(device::ValueOrThrow(client.BufferFromHost(zeros.data(), DType::kF32, dims)));
  }
  return buffers;
}

}  // namespace

double BareExecuteMicroseconds(const std::string& module, int n, bool chained) {
  graph::Runtime& runtime = *device::ValueOrThrow(graph::Runtime::Get());
  pjrt::CompileOptions options;
  auto executable = device::ValueOrThrow(runtime.client().Compile(module, options));
  auto arguments = ZeroArguments(module, runtime.client());
  std::vector<PJRT_Buffer*> args;
  for (const auto& b : arguments) args.push_back(b.raw());
  std::vector<PJRT_Buffer*> outputs(executable->num_outputs());
  pjrt::Buffer last;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) {
    device::ThrowIfError(executable->Execute(args, {}, outputs));
    pjrt::Buffer result(runtime.client_ptr(), outputs[0]);
    for (size_t k = 1; k < outputs.size(); ++k) pjrt::Buffer(runtime.client_ptr(), outputs[k]);
    if (chained) args[0] = result.raw();
    last = std::move(result);
  }
  device::ThrowIfError(last.Await());
  const auto took = std::chrono::steady_clock::now() - start;
  return std::chrono::duration<double, std::micro>(took).count() / n;
}

std::vector<at::Tensor> RunModule(const std::string& module,
                                  const std::vector<at::Tensor>& arguments) {
  graph::Runtime& runtime = *device::ValueOrThrow(graph::Runtime::Get());
  auto executable = device::ValueOrThrow(runtime.client().Compile(
      module, runtime.client().DefaultCompileOptions(pjrt::CompileEffort::kFull)));
  std::vector<PJRT_Buffer*> args;
  std::vector<graph::ValueRef> held;
  for (const at::Tensor& t : arguments) {
    TORCH_CHECK(t.device().is_privateuseone(), "argument ", args.size(), " is not on the device");
    held.push_back(device::ValueOrThrow(
        runtime.Materialize(device::HandleOf(t).Get(), device::CurrentWork())));
    args.push_back(held.back()->buffer().raw());
  }
  std::vector<int64_t> kept(args.size());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = static_cast<int64_t>(i);
  std::vector<PJRT_Buffer*> outputs(executable->num_outputs());
  device::ThrowIfError(executable->Execute(args, kept, outputs));
  std::vector<at::Tensor> results;
  for (PJRT_Buffer* raw : outputs) {
    pjrt::Buffer buffer(runtime.client_ptr(), raw);
    device::ThrowIfError(buffer.Await());
    const DType dtype = device::ValueOrThrow(buffer.dtype());
    const Dims dims = device::ValueOrThrow(buffer.dims());
    results.push_back(device::MakeTensor(
        graph::Value::Buffer(graph::InternType(dtype, dims), std::move(buffer), "module"),
        device::ToScalarType(dtype), dims, ContiguousStrides(dims)));
  }
  return results;
}

}  // namespace torch_tpu::bindings
