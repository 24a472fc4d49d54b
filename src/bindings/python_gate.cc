// Two numbers, and sleeping.
#include "bindings/python_gate.h"

#include <chrono>
#include <thread>

namespace torch_tpu::bindings {

using std::chrono::milliseconds;

PythonGate& PythonGate::Get() {
  static auto* gate = new PythonGate;
  return *gate;
}

void PythonGate::Enter() {
  between_.fetch_add(1);
  if (!closed_.load()) return;
  between_.fetch_sub(1);
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void PythonGate::Close() {
  // Enough for a thread that waits for its turn. In a forked child the number may count a thread
  // of its parent.
  constexpr milliseconds kLimit{1000}, kPause{1};
  closed_.store(true);
  for (milliseconds waited{0}; between_.load() > 0 && waited < kLimit; waited += kPause) {
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace torch_tpu::bindings
