// Timing of bare PJRT executions.
#include "bindings/bare_execute.h"

#include <chrono>
#include <regex>
#include <vector>

#include "device/errors.h"
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

}  // namespace torch_tpu::bindings
