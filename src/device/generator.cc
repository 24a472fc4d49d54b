// Seed and offset bookkeeping.
#include "device/generator.h"

#include <ATen/Functions.h>

#include <cstring>

namespace torch_tpu::device {
namespace {

uint64_t SplitMix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

GeneratorImpl::GeneratorImpl(c10::DeviceIndex index)
    : c10::GeneratorImpl(c10::Device(c10::DeviceType::PrivateUse1, index),
                         c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

void GeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

void GeneratorImpl::set_offset(uint64_t offset) { offset_ = offset; }

uint64_t GeneratorImpl::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void GeneratorImpl::set_state(const c10::TensorImpl& state) {
  TORCH_CHECK(state.device().is_cpu() && state.dtype() == caffe2::TypeMeta::Make<uint8_t>() &&
                  state.numel() == 16,
              "the state of a tpu generator is a CPU uint8 tensor of 16 elements, got ",
              state.numel(), " elements of ", state.dtype().name());
  const auto* bytes = static_cast<const uint8_t*>(state.data());
  std::memcpy(&seed_, bytes, 8);
  std::memcpy(&offset_, bytes + 8, 8);
}

c10::intrusive_ptr<c10::TensorImpl> GeneratorImpl::get_state() const {
  auto state = at::empty({16}, at::TensorOptions().dtype(at::kByte).device(at::kCPU));
  auto* bytes = state.mutable_data_ptr<uint8_t>();
  std::memcpy(bytes, &seed_, 8);
  std::memcpy(bytes + 8, &offset_, 8);
  return state.getIntrusivePtr();
}

std::array<uint64_t, 2> GeneratorImpl::Next() {
  // Both words are hashed, because the plugin's own algorithm decides what they mean: on a TPU it
  // is the hardware's, which nobody promises to keep states apart that differ by little.
  const uint64_t call = SplitMix(offset_++);
  return {SplitMix(seed_ ^ call), SplitMix(seed_ + call)};
}

GeneratorImpl* GeneratorImpl::clone_impl() const {
  auto* copy = new GeneratorImpl(device().index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

const at::Generator& DefaultGenerator() {
  static const at::Generator generator = at::make_generator<GeneratorImpl>();
  return generator;
}

std::array<uint64_t, 2> NextRandomState(const std::optional<at::Generator>& generator) {
  auto chosen = generator && generator->defined() ? *generator : DefaultGenerator();
  TORCH_CHECK(chosen.device().type() == c10::DeviceType::PrivateUse1,
              "Expected a 'tpu' device type for generator but found '", chosen.device().type(),
              "'");
  std::lock_guard lock(chosen.mutex());
  return static_cast<GeneratorImpl*>(chosen.unsafeGetGeneratorImpl())->Next();
}

}  // namespace torch_tpu::device
