// Opening the plugin, launching, and moving bytes.
#include "graph/runtime.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "base/env.h"
#include "base/hash.h"
#include "base/log.h"
#include "cache/tiers.h"
#include "graph/compile_progress.h"
#include "graph/deferred.h"
#include "graph/sender.h"

namespace torch_tpu::graph {
namespace {

struct Global {
  std::mutex mutex;
  std::vector<std::pair<std::string, std::string>> candidates;
  std::atomic<Runtime*> runtime{nullptr};
};

Global& GetGlobal() {
  static auto* global = new Global();
  return *global;
}

// One-element buffers by value: numbers recur (a learning rate, slice starts), so most launches
// make none. A buffer pushed out by a later element of the same launch lives until the next launch
// begins.
class ScalarCache {
 public:
  void BeginLaunch() { evicted_.clear(); }

  PJRT_Buffer* Find(DType dtype, ScalarBits bits, const pjrt::Client& client, Status* status) {
    const uint64_t h =
        (bits.lo ^ (bits.hi * 31) ^ (static_cast<uint64_t>(dtype) << 56)) * 0x9E3779B97F4A7C15ull;
    Slot& slot = slots_[h >> 55];
    if (slot.buffer && slot.dtype == dtype && slot.bits == bits) return slot.buffer.raw();
    auto made = client.BufferFromHost(&bits, dtype, {});
    if (!made.ok()) {
      *status = made.status();
      return nullptr;
    }
    if (slot.buffer) evicted_.push_back(std::move(slot.buffer));
    slot = Slot{dtype, bits, std::move(made).value()};
    return slot.buffer.raw();
  }

 private:
  struct Slot {
    DType dtype = DType::kInvalid;
    ScalarBits bits;
    pjrt::Buffer buffer;
  };
  std::array<Slot, 512> slots_;
  std::vector<pjrt::Buffer> evicted_;
};

ScalarCache& LocalScalars() {
  thread_local ScalarCache cache;
  return cache;
}

std::string Names(const std::vector<std::pair<std::string, std::string>>& candidates) {
  std::string out;
  for (const auto& [name, path] : candidates) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

// The library to load, by TORCH_TPU_PJRT_PLUGIN or the order of preference.
Result<std::string> ChoosePlugin(
    const std::vector<std::pair<std::string, std::string>>& candidates) {
  const std::string& wanted = env::Get().pjrt_plugin;
  if (wanted.empty()) {
    if (candidates.empty()) {
      return NotFound(
          "no PJRT plugin found: install the CPU plugin (pip install xla-cpu-pjrt) or set "
          "TORCH_TPU_PJRT_PLUGIN to "
          "the path of a PJRT plugin library");
    }
    return candidates.front().second;
  }
  if (wanted.find('/') != std::string::npos) return wanted;
  for (const auto& [name, path] : candidates) {
    if (name == wanted) return path;
  }
  return NotFound(
      "TORCH_TPU_PJRT_PLUGIN=" + wanted +
      " is neither a path nor the name of an installed plugin (known: " + Names(candidates) + ")");
}

}  // namespace

Counters& Counters::Get() {
  static auto* counters = new Counters();
  return *counters;
}

void Counters::Reset() {
  for (auto* c : {&launches, &compiles, &compile_microseconds, &host_to_device, &device_to_host,
                  &fallbacks, &traces}) {
    c->store(0, std::memory_order_relaxed);
  }
}

void Runtime::SetPluginCandidates(std::vector<std::pair<std::string, std::string>> candidates) {
  std::lock_guard lock(GetGlobal().mutex);
  GetGlobal().candidates = std::move(candidates);
}

bool Runtime::initialized() {
  return GetGlobal().runtime.load(std::memory_order_acquire) != nullptr;
}

Result<Runtime*> Runtime::Get() {
  Global& global = GetGlobal();
  if (Runtime* r = global.runtime.load(std::memory_order_acquire)) return r;
  std::lock_guard lock(global.mutex);
  if (Runtime* r = global.runtime.load(std::memory_order_acquire)) return r;
  ASSIGN_OR_RETURN(auto opened, Open());
  Runtime* runtime = opened.release();
  global.runtime.store(runtime, std::memory_order_release);
  return runtime;
}

Result<std::unique_ptr<Runtime>> Runtime::Open() {
  RETURN_IF_ERROR(env::ParseStatus());
  ASSIGN_OR_RETURN(std::string path, ChoosePlugin(GetGlobal().candidates));
  ASSIGN_OR_RETURN(auto plugin, pjrt::Plugin::Load(path));
  std::unique_ptr<Runtime> runtime(new Runtime());
  ASSIGN_OR_RETURN(runtime->client_, pjrt::Client::Create(plugin));
  runtime->plugin_path_ = path;
  runtime->is_cpu_ = runtime->client_->platform_name() == "cpu";
  runtime->compiler_ = std::make_unique<Compiler>(runtime->client_);
  Log(LogLevel::kInfo,
      "device tpu runs on " + runtime->client_->platform_name() + " through " + path);
  return runtime;
}

void Runtime::ShutDown() {
  Sender::Get().Stop();
  if (initialized()) {
    StopCompileProgress();
    cache::Tiers::Get().Close(std::chrono::seconds(env::Get().cache_exit_seconds));
  }
  pjrt::Client::ShutDownAll();
}

Status Runtime::Launch(const Program& program, std::span<const OperandRef> operands,
                       std::span<const int64_t> non_donatable, const char* origin,
                       InFlight& in_flight, std::vector<ValueRef>* results,
                       std::vector<CheckFailure>* failures) {
  constexpr size_t kOnStack = 16;
  const size_t num_args = operands.size();
  const size_t num_outputs = program.num_results() + program.checks().size();
  PJRT_Buffer* stack_args[kOnStack];
  PJRT_Buffer* stack_outputs[kOnStack];
  std::vector<PJRT_Buffer*> heap_args, heap_outputs;
  PJRT_Buffer** args = stack_args;
  PJRT_Buffer** outputs = stack_outputs;
  if (num_args > kOnStack) args = (heap_args.resize(num_args), heap_args.data());
  if (num_outputs > kOnStack) outputs = (heap_outputs.resize(num_outputs), heap_outputs.data());

  ScalarCache& scalars = LocalScalars();
  scalars.BeginLaunch();
  Status status;
  for (size_t i = 0; i < num_args; ++i) {
    const OperandRef& o = operands[i];
    if (!o.value) {
      args[i] = scalars.Find(o.dtype, o.bits, *client_, &status);
      RETURN_IF_ERROR(status);
    } else if (o.value->state() == Value::State::kBuffer) {
      args[i] = o.value->buffer().raw();
    } else {
      RETURN_IF_ERROR(Recorder::Get().Require(*o.value));
      if (o.value->state() != Value::State::kBuffer) return Internal("operand is not a buffer");
      args[i] = o.value->buffer().raw();
    }
  }

  const bool reports =
      program.reports_completion() || failures != nullptr || in_flight.IsMilestone();
  pjrt::Event done;
  RETURN_IF_ERROR(program.executable().Execute({args, num_args}, non_donatable,
                                               {outputs, num_outputs}, reports ? &done : nullptr));
  const bool fulfils = !results->empty() && results->front()->state() == Value::State::kDeferred;
  const size_t first = fulfils ? 0 : results->size();
  program.Touch(Counters::Get().launches.fetch_add(1, std::memory_order_relaxed));
  for (int i = 0; i < program.num_results(); ++i) {
    pjrt::Buffer buffer(client_, outputs[i]);
    if (fulfils) {
      (*results)[first + i]->Fulfil(std::move(buffer));
    } else {
      results->push_back(Value::Buffer(program.result(i), std::move(buffer), origin));
    }
    if (!reports) in_flight.Track(*(*results)[first + i]);
  }
  MemoryAccount::Get().AddLaunch(program.temporary_bytes());
  if (failures != nullptr) {
    RETURN_IF_ERROR(done.Await());
  }
  for (size_t i = program.num_results(); i < num_outputs; ++i) {
    pjrt::Buffer flag(client_, outputs[i]);
    if (failures == nullptr) continue;
    uint8_t ok = 0;
    ASSIGN_OR_RETURN(pjrt::Event copied, flag.ToHost(&ok, 1));
    RETURN_IF_ERROR(copied.Await());
    const size_t c = i - program.num_results();
    if (ok == 0) failures->push_back({program.checks()[c], program.check_is_index()[c]});
  }
  if (reports) in_flight.Push(std::move(done));
  return Status();
}

Result<ValueRef> Runtime::Materialize(const ValueRef& value, InFlight& in_flight) {
  RETURN_IF_ERROR(Recorder::Get().Require(*value));
  if (value->state() == Value::State::kBuffer) return value;
  if (value->state() == Value::State::kTraced) {
    return FailedPrecondition(
        "the data of this tensor is not known while an operator is being traced");
  }
  std::shared_ptr<Program> program;
  {
    std::lock_guard lock(splat_mutex_);
    auto& slot = splat_programs_[value->type_ptr()];
    if (!slot) {
      CallSpec spec;
      spec.name = "torch_tpu::splat";
      spec.key.structure =
          Hasher().Add(spec.name).Add(static_cast<uint64_t>(value->type().dtype)).Finish();
      spec.key.sizes = Hasher().Add(value->type().dims).Finish();
      spec.operands = {TensorType{value->type().dtype, {}}};
      SubCall call;
      static const ops::LoweringEntry kEntry = {
          "torch_tpu::splat",
          [](ops::Call& c) { return ops::Results{c.tensor(0)}; },
          nullptr,
          {},
          __FILE__,
          __LINE__};
      call.lowering = &kEntry;
      TensorSpec t;
      t.operand = 0;
      t.splat_operand = true;
      t.base = {value->type().dtype, value->type().dims};
      t.dtype = t.base.dtype;
      t.sizes = t.base.dims;
      call.args.push_back({t});
      OutputSpec o;
      o.type = o.result = value->type();
      call.outputs.push_back(o);
      call.common = t.dtype;
      spec.calls.push_back(std::move(call));
      ASSIGN_OR_RETURN(slot, Compile(spec));
    }
    program = slot;
  }
  OperandRef element{nullptr, value->type().dtype, value->splat()};
  std::vector<ValueRef> results;
  RETURN_IF_ERROR(Launch(*program, {&element, 1}, {}, "aten::full", in_flight, &results, nullptr));
  return results[0];
}

Result<ValueRef> Runtime::FromHost(const void* data, const TensorType* type, const char* origin) {
  ASSIGN_OR_RETURN(auto buffer, client_->BufferFromHost(data, type->dtype, type->dims));
  Counters::Get().host_to_device.fetch_add(1, std::memory_order_relaxed);
  return Value::Buffer(type, std::move(buffer), origin);
}

Status Runtime::StartToHost(const ValueRef& value, void* dst, int64_t bytes, InFlight& in_flight,
                            std::shared_ptr<void> memory) {
  if (value->state() == Value::State::kSplat) return ToHost(value, dst, bytes, in_flight);
  ASSIGN_OR_RETURN(ValueRef ready, Materialize(value, in_flight));
  ASSIGN_OR_RETURN(pjrt::Event copied, ready->buffer().ToHost(dst, bytes));
  Counters::Get().device_to_host.fetch_add(1, std::memory_order_relaxed);
  RETURN_IF_ERROR(copied.OnReady([memory](const Status&) {}));
  in_flight.Push(std::move(copied));
  return {};
}

Status Runtime::ToHost(const ValueRef& value, void* dst, int64_t bytes, InFlight& in_flight) {
  if (value->state() == Value::State::kSplat) {
    const ScalarBits bits = value->splat();
    const int64_t size = DTypeSize(value->type().dtype);
    for (int64_t at = 0; at + size <= bytes; at += size) {
      std::memcpy(static_cast<char*>(dst) + at, &bits, size);
    }
    return {};
  }
  ASSIGN_OR_RETURN(ValueRef ready, Materialize(value, in_flight));
  ASSIGN_OR_RETURN(pjrt::Event copied, ready->buffer().ToHost(dst, bytes));
  Counters::Get().device_to_host.fetch_add(1, std::memory_order_relaxed);
  Status status = copied.Await();
  return status.WithContext(std::string("the result of ") + ready->origin());
}

}  // namespace torch_tpu::graph
