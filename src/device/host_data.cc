// Operators that the host carries out because they are about the host: assertions, which have to
// raise, and tensors read from files.
#include <ATen/Functions.h>
#include <torch/library.h>

#include "device/tracer.h"

namespace torch_tpu::device {
namespace {

// A recorded call has no values that could be checked.
void AssertMessage(const at::Tensor& self, c10::string_view message) {
  if (Tracer::Current() == nullptr) TORCH_CHECK(self.is_nonzero(), message);
}

void Assert(const at::Tensor& self) {
  AssertMessage(self, "Expected Tensor with single nonzero value, but got zero");
}

at::Tensor FunctionalAssert(const at::Tensor& self, c10::string_view message,
                            const at::Tensor& token) {
  AssertMessage(self, message);
  return token.clone();
}

at::Tensor MakeToken(std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                     std::optional<at::Device> device, std::optional<bool> pin_memory,
                     std::optional<at::MemoryFormat>) {
  return at::zeros({}, dtype, layout, device, pin_memory);
}

at::Tensor FromFile(c10::string_view filename, std::optional<bool> shared,
                    std::optional<int64_t> size, std::optional<at::ScalarType> dtype,
                    std::optional<at::Layout> layout, std::optional<at::Device> device,
                    std::optional<bool> pin_memory) {
  TORCH_CHECK(!shared.value_or(false),
              "from_file: memory of a device cannot be shared with a file; use shared=False");
  const at::Tensor host =
      at::from_file(filename, shared, size, dtype, layout, at::Device(at::kCPU), pin_memory);
  return host.to(device.value_or(at::Device(at::kPrivateUse1)));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_assert_async", TORCH_FN(Assert));
  m.impl("_assert_async.msg", TORCH_FN(AssertMessage));
  m.impl("_functional_assert_async.msg", TORCH_FN(FunctionalAssert));
  m.impl("_make_dep_token", TORCH_FN(MakeToken));
  m.impl("from_file", TORCH_FN(FromFile));
}

}  // namespace torch_tpu::device
