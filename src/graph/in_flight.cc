// Keeping track of launches.
#include "graph/in_flight.h"

namespace torch_tpu::graph {
namespace {

bool IsReadyNow(const Value& value) {
  auto event = value.buffer().ReadyEvent();
  return !event.ok() || event->IsReady();
}

}  // namespace

InFlight::~InFlight() {
  std::lock_guard lock(mutex_);
  while (first_ != nullptr) Unlink(*first_);
}

void InFlight::Unlink(Value& value) {
  (value.previous_ != nullptr ? value.previous_->next_ : first_) = value.next_;
  (value.next_ != nullptr ? value.next_->previous_ : last_) = value.previous_;
  value.previous_ = value.next_ = nullptr;
  value.in_flight_.store(nullptr, std::memory_order_release);
  --num_values_;
}

void InFlight::Track(Value& value) {
  constexpr size_t kKeep = 64;
  std::lock_guard lock(mutex_);
  if (num_values_ >= kKeep) PruneValues(num_values_ - 1);
  value.previous_ = last_;
  (last_ != nullptr ? last_->next_ : first_) = &value;
  last_ = &value;
  value.in_flight_.store(this, std::memory_order_release);
  ++num_values_;
}

void InFlight::Forget(Value& value) {
  std::lock_guard lock(mutex_);
  if (value.in_flight_.load(std::memory_order_relaxed) == this) Unlink(value);
}

bool InFlight::IsMilestone() {
  constexpr uint32_t kEvery = 64;
  std::lock_guard lock(mutex_);
  return ++launches_ % kEvery == 0;
}

void InFlight::PruneEvents() {
  while (!events_.empty() && events_.front()->IsReady()) events_.pop_front();
}

void InFlight::PruneValues(size_t keep) {
  while (num_values_ > keep && IsReadyNow(*first_)) Unlink(*first_);
}

void InFlight::Push(pjrt::Event done) {
  constexpr size_t kPruneAbove = 32;
  constexpr size_t kMaximum = 1024;
  SharedEvent wait;
  {
    std::lock_guard lock(mutex_);
    if (events_.size() >= kPruneAbove) PruneEvents();
    if (events_.size() >= kMaximum) wait = events_.front();
    events_.push_back(std::make_shared<pjrt::Event>(std::move(done)));
  }
  if (wait) (void)wait->Await();  // its failure is reported by whoever reads the results
}

bool InFlight::IsReady() {
  std::lock_guard lock(mutex_);
  PruneEvents();
  PruneValues(0);
  if (num_values_ > 0) return false;
  for (const auto& e : events_) {
    if (!e->IsReady()) return false;
  }
  return true;
}

std::vector<InFlight::SharedEvent> InFlight::Pending() {
  std::lock_guard lock(mutex_);
  std::vector<SharedEvent> pending(events_.begin(), events_.end());
  for (Value* value = first_; value != nullptr; value = value->next_) {
    if (auto event = value->buffer().ReadyEvent(); event.ok()) {
      pending.push_back(std::make_shared<pjrt::Event>(std::move(event).value()));
    }
  }
  return pending;
}

Status InFlight::Await() {
  Status first;
  for (const auto& e : Pending()) {
    Status s = e->Await();
    if (first.ok() && !s.ok()) first = s;
  }
  std::lock_guard lock(mutex_);
  PruneEvents();
  PruneValues(0);
  return first;
}

void InFlight::OnReady(std::function<void()> callback) {
  // The callback runs when the last reference to `guard` goes: each pending event holds one.
  auto guard =
      std::shared_ptr<void>(nullptr, [callback = std::move(callback)](void*) { callback(); });
  for (const auto& e : Pending()) {
    (void)e->OnReady([guard](const Status&) {});
  }
}

}  // namespace torch_tpu::graph
