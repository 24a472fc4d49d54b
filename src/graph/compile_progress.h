// Tells a person who waits that programs are being compiled.
#pragma once

#include <cstdint>
#include <functional>

namespace torch_tpu::graph {

// Compiles that follow each other within half a second are one stretch. `done` and `started` count
// its programs. `over`: the stretch has ended.
struct CompileStretch {
  int64_t started = 0, done = 0;
  double seconds = 0;  // since its begin
  bool over = false;
};

// Called from a thread of its own for stretches that last longer than two seconds: then, ten times
// a second, and once when they end. Must not throw. Replaces the default, which logs one line a
// stretch on stderr.
void SetCompileProgress(std::function<void(const CompileStretch&)> report);

// Lives as long as a compile. Does nothing when TORCH_TPU_COMPILE_PROGRESS is off.
class CompileScope {
 public:
  CompileScope();
  ~CompileScope();
  CompileScope(const CompileScope&) = delete;
  CompileScope& operator=(const CompileScope&) = delete;
};

// Ends the thread. For the end of the process.
void StopCompileProgress();

}  // namespace torch_tpu::graph
