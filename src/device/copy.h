// Copies between and within devices.
#pragma once

#include <ATen/core/Tensor.h>

#include "device/handle.h"

namespace torch_tpu::device {

// dst[...] = src, both on this device; converts, and broadcasts src. A whole copy of equal layout
// shares the value.
void CopyOnDevice(const at::Tensor& dst, const at::Tensor& src);
// Host to device; the source may change when the call returns.
void CopyToDevice(const at::Tensor& dst, const at::Tensor& src);
// Device to host. Waits for the value, unless `non_blocking` and `dst` is pinned memory of the same
// dtype and layout: then the bytes are there after the stream is synchronised.
void CopyToHost(const at::Tensor& dst, const at::Tensor& src, bool non_blocking = false);

// `value` as the base of a storage of `nbytes` bytes: elements that fit are kept, new ones are
// undefined.
ValueRef ResizedValue(const ValueRef& value, int64_t nbytes);

}  // namespace torch_tpu::device
