// The one translation of Status into PyTorch's exceptions.
#pragma once

#include <string>

#include "base/dtype.h"
#include "base/status.h"

namespace torch_tpu::device {

// Raises `status` unless it is ok: RESOURCE_EXHAUSTED as torch.OutOfMemoryError, OUT_OF_RANGE as
// IndexError, UNIMPLEMENTED as NotImplementedError, everything else as RuntimeError. `context`
// ("aten::mm") leads the message. The compiler's own text is cut after its first line unless
// TORCH_TPU_SHOW_COMPILER_LOG is set.
void ThrowIfError(const Status& status, const char* context = nullptr);

template <typename T>
T ValueOrThrow(Result<T> result, const char* context = nullptr) {
  ThrowIfError(result.status(), context);
  return std::move(result).value();
}

// Raises torch.OutOfMemoryError when an allocation of this size can never succeed (more than any
// host has), so that the error names the size asked for and comes at once.
void CheckAllocation(const Dims& dims, DType dtype);

// "1.50 GiB".
std::string HumanBytes(double bytes);

// Warns the user: a Python UserWarning where there is an interpreter. Set by the bindings.
using WarnFn = void (*)(const std::string& text);
void SetWarnFunction(WarnFn fn);
void Warn(const std::string& text);

// "file.py:12 in function", innermost user frame; empty without an interpreter. Set by the
// bindings.
using PythonLineFn = std::string (*)();
void SetPythonLineFunction(PythonLineFn fn);
std::string PythonLine();

}  // namespace torch_tpu::device
