// For threads that come back from C++ to Python, which may be ending meanwhile.
#pragma once

#include <atomic>

namespace torch_tpu::bindings {

// A thread that asks for Python's lock when Python is ending is ended by it, by unwinding its
// stack. pybind11 asks in destructors, which nothing can unwind: the process would abort. So such a
// thread passes this gate first, and once the gate is closed it sleeps there for good.
class PythonGate {
 public:
  static PythonGate& Get();

  // Before the lock is asked for.
  void Enter();
  // When the thread has it.
  void Leave() { between_.fetch_sub(1); }
  // At the end of the process, without the lock: lets those through that have entered.
  void Close();

 private:
  // Plain numbers: a child forked at any moment can close its copy.
  std::atomic<bool> closed_{false};
  std::atomic<int> between_{0};
};

}  // namespace torch_tpu::bindings
