// The compile pool and the order of launches.
#include "graph/sender.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace torch_tpu::graph {
namespace {

std::string NameOf(const DeferredCall& call) {
  if (call.python_line.empty()) return call.spec->name;
  return call.spec->name + " (recorded at " + call.python_line + ")";
}

}  // namespace

Sender& Sender::Get() {
  static auto* sender = new Sender();
  return *sender;
}

void Sender::StartThreads() {
  constexpr unsigned kFewest = 2, kMost = 8;
  const unsigned n = std::clamp(std::thread::hardware_concurrency(), kFewest, kMost);
  while (threads_.size() < n) threads_.emplace_back([this] { Work(); });
}

void Sender::Send(std::shared_ptr<Region> region) {
  Region::Progress& progress = region->progress;
  bool compile_here = false;
  {
    std::lock_guard lock(mutex_);
    ++unfinished_;
    for (const OperandRef& o : region->operands()) {
      if (!o.value || o.value->state() != Value::State::kDeferred) continue;
      Region& maker = *o.value->region();
      auto& dependents = maker.progress.dependents;
      if (maker.progress.done || (!dependents.empty() && dependents.back() == region)) continue;
      dependents.push_back(region);
      ++progress.blockers;
    }
    Slot& slot = slots_[region->key()];
    progress.program = slot.program.lock();
    if (!progress.program) {
      ++progress.blockers;
      slot.waiting.push_back(region);
      if (!slot.compiling) {
        slot.compiling = true;
        compile_here = stopping_;
        if (!stopping_) {
          StartThreads();
          to_compile_.push_back(region);
          work_cv_.notify_one();
        }
      }
    }
    if (progress.blockers > 0 && !compile_here) return;
  }
  compile_here ? Compile(region) : Launch(std::move(region));
}

void Sender::Work() {
  while (true) {
    RegionPtr region;
    {
      std::unique_lock lock(mutex_);
      work_cv_.wait(lock, [&] { return stopping_ || !to_compile_.empty(); });
      if (stopping_) return;
      region = std::move(to_compile_.front());
      to_compile_.pop_front();
    }
    Compile(region);
  }
}

void Sender::Compile(const RegionPtr& region) {
  Result<std::shared_ptr<Program>> program = Internal("not compiled");
  if (auto runtime = Runtime::Get(); runtime.ok()) {
    program = (*runtime)->Compile(*region->BuildSpec());
  } else {
    program = runtime.status();
  }
  std::vector<RegionPtr> ready;
  {
    std::lock_guard lock(mutex_);
    Slot& slot = slots_[region->key()];
    slot.compiling = false;
    if (program.ok()) slot.program = *program;
    for (RegionPtr& r : std::exchange(slot.waiting, {})) {
      if (program.ok()) r->progress.program = *program;
      r->progress.status = program.status();
      if (--r->progress.blockers == 0) ready.push_back(std::move(r));
    }
  }
  for (RegionPtr& r : ready) Launch(std::move(r));
}

void Sender::Launch(RegionPtr first) {
  std::deque<RegionPtr> ready;
  ready.push_back(std::move(first));
  while (!ready.empty()) {
    const RegionPtr region = std::move(ready.front());
    ready.pop_front();
    Status status = region->progress.status;
    status = status.ok() ? LaunchNow(*region) : OneByOne(*region);
    std::lock_guard lock(mutex_);
    if (!status.ok() && untold_.size() < kMostUntold) untold_.push_back(std::move(status));
    region->progress.done = true;
    for (RegionPtr& r : std::exchange(region->progress.dependents, {})) {
      if (--r->progress.blockers == 0) ready.push_back(std::move(r));
    }
    region->Finish();
    if (--unfinished_ == 0) idle_cv_.notify_all();
  }
}

Status Sender::LaunchNow(Region& region) {
  std::vector<ValueRef> results;
  for (const Region::Result& r : region.results()) results.push_back(region.value(r));
  const auto fail = [&](const Status& status) {
    for (const ValueRef& v : results) {
      if (v->state() == Value::State::kDeferred) v->Fail(status);
    }
    return status;
  };
  for (const OperandRef& o : region.operands()) {
    if (o.value && o.value->state() == Value::State::kError) return fail(o.value->error());
  }
  auto runtime = Runtime::Get();
  if (!runtime.ok()) return fail(runtime.status());
  const std::vector<int64_t> kept = region.NonDonatable();
  for (const auto& [operand, result] : region.aliases()) {
    if (!std::binary_search(kept.begin(), kept.end(), operand)) {
      region.operands()[operand].value->MarkDonated();
    }
  }
  if (LogEnabled(LogLevel::kDebug)) {
    int64_t in = 0, out = 0, donated = 0;
    for (const OperandRef& o : region.operands()) {
      if (o.value) in += NumElements(o.value->type().dims) * DTypeSize(o.value->type().dtype);
    }
    for (const ValueRef& v : results)
      out += NumElements(v->type().dims) * DTypeSize(v->type().dtype);
    for (const auto& [operand, result] : region.aliases()) {
      if (std::binary_search(kept.begin(), kept.end(), operand)) continue;
      donated +=
          NumElements(results[result]->type().dims) * DTypeSize(results[result]->type().dtype);
    }
    Log(LogLevel::kDebug,
        "launching " + std::to_string(region.calls().size()) + " calls as one program (" +
            region.Describe() + "): bytes of operands " + std::to_string(in) + ", results " +
            std::to_string(out) + " of which " + std::to_string(donated) +
            " in donated operands, temporaries " +
            std::to_string(region.progress.program->temporary_bytes()) + ", in use before " +
            std::to_string(MemoryAccount::Get().allocated.load()));
  }
  Status status = (*runtime)->Launch(*region.progress.program, region.operands(), kept, nullptr,
                                     region.in_flight(), &results, nullptr);
  if (status.ok()) return status;
  return fail(status.WithContext("a fused program of " + region.Describe()));
}

// What compiles alone runs alone, and what does not has a name.
Status Sender::OneByOne(Region& region) {
  Status first;
  auto runtime = Runtime::Get();
  for (const DeferredCall& call : region.calls()) {
    Status status = runtime.ok() ? RunCall(**runtime, call, region.in_flight()) : runtime.status();
    if (status.ok()) continue;
    if (first.ok()) first = status;
    for (const ValueRef& v : call.results) {
      if (v->state() == Value::State::kDeferred) v->Fail(status);
    }
  }
  return first;
}

Status Sender::RunCall(Runtime& runtime, const DeferredCall& call, InFlight& in_flight) {
  for (const OperandRef& o : call.operands) {
    if (o.value && o.value->state() == Value::State::kError) return o.value->error();
  }
  auto program = runtime.Compile(*call.spec);
  if (!program.ok()) {
    const bool traced = !call.python_line.empty();  // else its own words name the operator
    return traced ? program.status().WithContext(NameOf(call)) : program.status();
  }
  std::vector<int64_t> all;
  for (const auto& [operand, result] : call.spec->aliases) all.push_back(operand);
  std::sort(all.begin(), all.end());
  std::vector<ValueRef> results = call.results;
  return runtime.Launch(**program, call.operands, all, nullptr, in_flight, &results, nullptr)
      .WithContext(NameOf(call));
}

Status Sender::Drain() {
  std::unique_lock lock(mutex_);
  idle_cv_.wait(lock, [&] { return unfinished_ == 0; });
  const std::vector<Status> untold = std::exchange(untold_, {});
  return untold.empty() ? Status() : untold.front();
}

void Sender::ForgetFailure(const Status& told) {
  std::lock_guard lock(mutex_);
  std::erase(untold_, told);
}

bool Sender::idle() {
  std::lock_guard lock(mutex_);
  return unfinished_ == 0;
}

void Sender::Stop() {
  std::vector<std::thread> threads;
  std::vector<RegionPtr> given_up;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    for (RegionPtr& region : to_compile_) {
      Slot& slot = slots_[region->key()];
      slot.compiling = false;
      for (RegionPtr& r : std::exchange(slot.waiting, {})) {
        r->progress.status = {StatusCode::kCancelled, "the process is ending"};
        if (--r->progress.blockers == 0) given_up.push_back(std::move(r));
      }
    }
    to_compile_.clear();
    work_cv_.notify_all();
  }
  for (std::thread& t : threads) t.join();
  for (RegionPtr& r : given_up) Launch(std::move(r));
}

}  // namespace torch_tpu::graph
