// Recording, and deciding when to send.
#include "graph/deferred.h"

#include "base/hash.h"
#include "graph/sender.h"

namespace torch_tpu::graph {

Recorder& Recorder::Get() {
  static auto* recorder = new Recorder();
  return *recorder;
}

// What makes two calls alike: the program, and how far back their operands were made. Distances
// that differ between equal blocks must not count: of what was made before the first block (a
// mask), and of parameters, which a call over many tensors updated.
uint64_t Recorder::HashOf(const CallSpec& spec, const std::vector<OperandRef>& operands) const {
  constexpr uint64_t kNear = 24;  // calls
  constexpr size_t kMany = 8;     // results
  const uint64_t number = first_ + calls_.size();
  Hasher hash;
  hash.Add(spec.key.structure).Add(spec.key.sizes);
  for (const OperandRef& o : operands) {
    const uint64_t maker = o.value ? o.value->number() : 0;
    const bool near = maker >= repeats_base_ && number - maker <= kNear &&
                      (maker < first_ || calls_[maker - first_].results.size() < kMany);
    hash.Add(near ? (number - maker) << 8 | static_cast<uint64_t>(o.value->output()) : 0);
  }
  return hash.Finish();
}

Status Recorder::Append(const std::shared_ptr<const CallSpec>& spec,
                        std::vector<OperandRef> operands, std::string python_line,
                        InFlight& in_flight, std::vector<ValueRef>* results) {
  for (const OperandRef& o : operands) {
    if (!o.value) continue;
    if (o.value->state() == Value::State::kError) return o.value->error();
    if (o.value->state() == Value::State::kTraced) {
      return FailedPrecondition(
          "a tensor made while an operator was traced was used outside of it");
    }
  }
  Regions regions;
  {
    std::lock_guard lock(mutex_);
    if (in_flight_ != &in_flight) CutAll(&regions);
    in_flight_ = &in_flight;
    const uint64_t number = first_ + calls_.size();
    const std::vector<int64_t>& cuts = repeats_.Add(HashOf(*spec, operands));
    DeferredCall call{spec, std::move(operands), {}, std::move(python_line)};
    int output = 0;
    for (const TensorType* type : spec->result_types) {
      call.results.push_back(Value::Deferred(type, number, output++, spec->name.c_str()));
      bytes_ += NumElements(type->dims) * DTypeSize(type->dtype);
    }
    results->insert(results->end(), call.results.begin(), call.results.end());
    calls_.push_back(std::move(call));
    for (int64_t cut : cuts) CutAt(repeats_base_ + static_cast<uint64_t>(cut), &regions);
    bool full = calls_.size() >= kMostCalls;
    if (bytes_ > kMostBytes) {
      bytes_ = LiveBytes();
      full |= bytes_ > kMostBytes / 2;
    }
    if (full) CutAll(&regions);
  }
  SendAll(std::move(regions));
  return {};
}

int64_t Recorder::LiveBytes() const {
  int64_t bytes = 0;
  for (const DeferredCall& call : calls_) {
    for (const ValueRef& v : call.results) {
      if (v->use_count() > 1) bytes += NumElements(v->type().dims) * DTypeSize(v->type().dtype);
    }
  }
  return bytes;
}

void Recorder::CutAt(uint64_t number, Regions* out) {
  std::vector<DeferredCall> calls;
  const uint64_t first = first_;
  while (first_ < number && !calls_.empty()) {
    calls.push_back(std::move(calls_.front()));
    calls_.pop_front();
    ++first_;
  }
  if (calls.empty()) return;
  auto region = Region::Form(std::move(calls), first, *in_flight_);
  if (!region) return;
  if (keep_keys_) keys_.push_back(region->key());
  out->push_back(std::move(region));
}

void Recorder::CutAll(Regions* out) {
  CutAt(first_ + calls_.size(), out);
  repeats_.Reset();
  repeats_base_ = first_;
  bytes_ = 0;
}

void Recorder::SendAll(Regions regions) {
  for (auto& region : regions) Sender::Get().Send(std::move(region));
}

void Recorder::Send() {
  Regions regions;
  {
    std::lock_guard lock(mutex_);
    CutAll(&regions);
  }
  SendAll(std::move(regions));
}

Status Recorder::Require(const Value& value) {
  if (value.state() == Value::State::kDeferred) {
    std::shared_ptr<Region> region;
    Regions regions;
    {
      std::lock_guard lock(mutex_);
      if (!value.region()) CutAll(&regions);
      region = value.region();
    }
    SendAll(std::move(regions));
    if (region) region->Wait();
  }
  if (value.state() == Value::State::kError) {
    Sender::Get().ForgetFailure(value.error());  // it is told here
    return value.error();
  }
  if (value.state() == Value::State::kDeferred)
    return Internal("a deferred value was not computed");
  return {};
}

Status Recorder::Drain() {
  Send();
  return Sender::Get().Drain();
}

bool Recorder::idle() {
  Send();
  return Sender::Get().idle();
}

std::vector<cache::Key> Recorder::TakeKeys() {
  std::lock_guard lock(mutex_);
  keep_keys_ = true;
  return std::exchange(keys_, {});
}

}  // namespace torch_tpu::graph
