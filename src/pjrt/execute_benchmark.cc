// Time of one bare execution: LoadedExecutable::Execute of a 16x16 float32 addition, per call.
//
// Usage: execute_benchmark [plugin.so ...]; without arguments, TORCH_TPU_PJRT_PLUGIN. Prints
// microseconds a call: the median and the fastest of many short runs by the clock, and the
// processor time of the calling thread, which other processes disturb less. "chained" feeds each
// output to the next call; "done" also asks for the completion event; "waited" waits for the output
// of every call.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "base/env.h"
#include "pjrt/pjrt.h"

namespace torch_tpu::pjrt {
namespace {

constexpr char kAdd[] = R"(module @add {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<16x16xf32>
    return %0 : tensor<16x16xf32>
  }
}
)";
constexpr int kCalls = 200, kRepeats = 201;

struct Mode {
  const char* name;
  bool chained, done, waited;
};

struct Times {  // microseconds a call
  double wall, thread;
};

double ThreadMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

Result<Times> TimeRun(const std::shared_ptr<const Client>& client, const LoadedExecutable& program,
                      const Buffer& operand, const Mode& mode) {
  const auto start = std::chrono::steady_clock::now();
  const double thread_start = ThreadMicroseconds();
  Buffer last;
  for (int i = 0; i < kCalls; ++i) {
    PJRT_Buffer* const args[] = {mode.chained && last ? last.raw() : operand.raw(), operand.raw()};
    PJRT_Buffer* outputs[1] = {};
    Event done;
    RETURN_IF_ERROR(program.Execute(args, {}, outputs, mode.done ? &done : nullptr));
    last = Buffer(client, outputs[0]);
    if (mode.waited) RETURN_IF_ERROR(last.Await());
  }
  RETURN_IF_ERROR(last.Await());
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  return Times{time.count() / kCalls, (ThreadMicroseconds() - thread_start) / kCalls};
}

Status Measure(const std::string& path) {
  ASSIGN_OR_RETURN(const auto plugin, Plugin::Load(path));
  ASSIGN_OR_RETURN(const auto client, Client::Create(plugin));
  ASSIGN_OR_RETURN(const auto program, client->Compile(kAdd, {}));
  const std::vector<float> data(256, 1.0f);
  const Dims dims = {16, 16};
  ASSIGN_OR_RETURN(const Buffer operand, client->BufferFromHost(data.data(), DType::kF32, dims));
  std::printf("%s (API %d.%d)\n", path.c_str(), plugin->api_major(), plugin->api_minor());
  for (const Mode& mode :
       {Mode{"independent", false, false, false}, Mode{"independent, done", false, true, false},
        Mode{"chained", true, false, false}, Mode{"chained, done", true, true, false},
        Mode{"chained, waited", true, false, true}}) {
    std::vector<double> wall, thread;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      ASSIGN_OR_RETURN(const Times times, TimeRun(client, *program, operand, mode));
      wall.push_back(times.wall);
      thread.push_back(times.thread);
    }
    std::sort(wall.begin(), wall.end());
    std::sort(thread.begin(), thread.end());
    std::printf("  %-18s median %6.2f   fastest %6.2f   thread median %6.2f\n", mode.name,
                wall[kRepeats / 2], wall[0], thread[kRepeats / 2]);
  }
  return {};
}

}  // namespace
}  // namespace torch_tpu::pjrt

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  if (paths.empty()) paths.push_back(torch_tpu::env::Get().pjrt_plugin);
  for (const std::string& path : paths) {
    const torch_tpu::Status status = torch_tpu::pjrt::Measure(path);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      return 1;
    }
  }
  return 0;
}
