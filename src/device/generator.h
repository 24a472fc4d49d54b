// The device's random generator: host-side state (seed, offset), so reading or saving it never
// waits for the device.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <array>
#include <cstdint>
#include <optional>

namespace torch_tpu::device {

class GeneratorImpl final : public c10::GeneratorImpl {
 public:
  explicit GeneratorImpl(c10::DeviceIndex index = 0);

  void set_current_seed(uint64_t seed) override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override { return offset_; }
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override;
  // State: 16 bytes, seed then offset, little endian, as a CPU uint8 tensor.
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  static c10::DeviceType device_type() { return c10::DeviceType::PrivateUse1; }

  // The (key, counter) pair of the next call; advances the offset. Caller holds mutex_.
  std::array<uint64_t, 2> Next();

 private:
  GeneratorImpl* clone_impl() const override;

  uint64_t seed_ = c10::default_rng_seed_val;
  uint64_t offset_ = 0;
};

const at::Generator& DefaultGenerator();

// Draws a state for one random call from `generator`, or the default one. Raises for a generator of
// another device.
std::array<uint64_t, 2> NextRandomState(const std::optional<at::Generator>& generator);

}  // namespace torch_tpu::device
