// Autograd's own end of its threads, and a look at the threads that the kernel still has.
#include "bindings/autograd_threads.h"

#include <torch/csrc/autograd/engine.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace torch_tpu::bindings {
namespace {

// Autograd names its threads, and says when they have nothing more to do, not when they are gone.
bool AnyAutogradThread() {
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    if (name.starts_with("pt_autograd")) return true;
  }
  return false;
}

}  // namespace

void EndAutogradThreads() {
  if (!AnyAutogradThread()) return;
  torch::autograd::Engine::get_default_engine().stop();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (AnyAutogradThread() && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace torch_tpu::bindings
