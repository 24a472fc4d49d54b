// Which buffers are alive at the moment of most memory, replayed from an optimised module's
// schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aot/hlo.h"

namespace torch_tpu::aot {

enum class BufferKind { kArgument, kOutput, kTemporary, kConstant };
const char* BufferKindName(BufferKind kind);  // "argument", ...

struct LiveBuffer {
  const HloInstruction* instruction = nullptr;  // that defines it; points into the module
  const HloComputation* computation = nullptr;
  const HloShape* shape = nullptr;  // of this buffer: one leaf of the instruction's shape
  int64_t bytes = 0;
  BufferKind kind = BufferKind::kTemporary;
};

struct LivePeak {
  int64_t bytes = 0;
  const HloInstruction* at = nullptr;  // null in an empty module
  std::vector<LiveBuffer> buffers;     // largest first
};

// An estimate: the schedule and the layouts are the compiler's, its packing of buffers is replayed
// by rules (in-place updates, reuse of an operand that dies, loop bodies beside their loop). Only
// the device's main memory counts. Donated inputs count once.
LivePeak FindLivePeak(const HloModule& module);

}  // namespace torch_tpu::aot
