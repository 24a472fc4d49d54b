// Liveness, key and program text of a region.
#include "graph/region.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"

namespace torch_tpu::graph {
namespace {

using Binding = Trace::Binding;

// Whether `value` is a result of one of the `count` calls from number `first` on that are not sent.
bool IsInside(const OperandRef& operand, uint64_t first, size_t count) {
  if (!operand.value || operand.value->state() != Value::State::kDeferred) return false;
  return operand.value->number() >= first && operand.value->number() - first < count;
}

// Which calls somebody needs, and (in `results`) which of their results are held from outside.
std::vector<bool> LiveCalls(const std::vector<DeferredCall>& calls, uint64_t first,
                            std::vector<Region::Result>* results) {
  std::vector<size_t> offset(calls.size() + 1, 0);
  for (size_t i = 0; i < calls.size(); ++i) offset[i + 1] = offset[i] + calls[i].results.size();
  const auto slot = [&](const Value& v) { return offset[v.number() - first] + v.output(); };
  std::vector<int> inside(offset.back(), 0);  // references of operands of these calls
  for (const DeferredCall& call : calls) {
    for (const OperandRef& o : call.operands) {
      if (IsInside(o, first, calls.size())) ++inside[slot(*o.value)];
    }
  }
  std::vector<bool> needed(offset.back(), false), live(calls.size(), false);
  for (size_t i = calls.size(); i-- > 0;) {
    for (size_t k = 0; k < calls[i].results.size(); ++k) {
      constexpr int kCall = 1;  // the reference of the call itself
      const bool held = calls[i].results[k]->use_count() > kCall + inside[offset[i] + k];
      if (held) results->push_back({static_cast<int>(i), static_cast<int>(k)});
      if (held || needed[offset[i] + k]) live[i] = true;
    }
    if (!live[i]) continue;
    for (const OperandRef& o : calls[i].operands) {
      if (IsInside(o, first, calls.size())) needed[slot(*o.value)] = true;
    }
  }
  std::reverse(results->begin(), results->end());
  return live;
}

TensorSpec Whole(int operand, const TensorType& type) {
  TensorSpec t;
  t.operand = operand;
  t.base = type;
  t.dtype = type.dtype;
  t.sizes = type.dims;
  return t;
}

// "model.py:12 in forward" to file and line.
void SplitLine(const std::string& text, Trace::Node* node) {
  const size_t colon = text.rfind(':', text.rfind(" in "));
  if (colon == std::string::npos) return;
  node->file = text.substr(0, colon);
  node->line = std::atoi(text.c_str() + colon + 1);
}

}  // namespace

std::shared_ptr<Region> Region::Form(std::vector<DeferredCall> calls, uint64_t first,
                                     InFlight& in_flight) {
  std::shared_ptr<Region> region(new Region(in_flight));
  const std::vector<bool> live = LiveCalls(calls, first, &region->results_);
  std::vector<int> index_of(calls.size(), -1);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!live[i]) continue;
    index_of[i] = static_cast<int>(region->calls_.size());
    region->calls_.push_back(std::move(calls[i]));
  }
  if (region->calls_.empty()) return nullptr;
  // The dead ones let go of their operands before anybody counts references to these.
  calls.clear();
  for (Result& r : region->results_) r.call = index_of[r.call];
  region->Connect(first, index_of);
  region->ChooseAliases();
  for (const DeferredCall& call : region->calls_) {
    for (const ValueRef& v : call.results) v->set_region(region);
  }
  return region;
}

int Region::AddOperand(const OperandRef& operand) {
  operands_.push_back(operand);
  uses_.push_back(0);
  return static_cast<int>(operands_.size()) - 1;
}

void Region::Connect(uint64_t first, const std::vector<int>& index_of) {
  Hasher structure, sizes;
  std::unordered_map<const Value*, int> known;
  for (const DeferredCall& call : calls_) {
    structure.Add(call.spec->key.structure);
    sizes.Add(call.spec->key.sizes);
    first_source_.push_back(sources_.size());
    for (const OperandRef& o : call.operands) {
      Source source;
      if (IsInside(o, first, index_of.size())) {
        source = {index_of[o.value->number() - first], o.value->output()};
      } else if (!o.value) {
        source.index = AddOperand(o);
      } else {
        auto [it, is_new] = known.try_emplace(o.value.get(), 0);
        if (is_new) it->second = AddOperand(o);
        source.index = it->second;
        ++uses_[source.index];
      }
      structure.Add(static_cast<uint64_t>(static_cast<uint32_t>(source.call)) << 32 |
                    static_cast<uint32_t>(source.index));
      sources_.push_back(source);
    }
  }
  for (const Result& r : results_) {
    structure.Add(static_cast<uint64_t>(r.call) << 32 | static_cast<uint32_t>(r.output));
  }
  key_.structure = structure.Add(calls_.size()).Finish();
  key_.sizes = sizes.Finish();
}

void Region::ChooseAliases() {
  std::vector<bool> taken(operands_.size(), false);
  for (size_t k = 0; k < results_.size(); ++k) {
    // Back along the in-place calls that led to this result, to a value from before the region.
    int call = results_[k].call, output = results_[k].output;
    int operand = -1;
    while (call >= 0) {
      const auto& pairs = calls_[call].spec->aliases;
      const auto it = std::find_if(pairs.begin(), pairs.end(),
                                   [&](const auto& pair) { return pair.second == output; });
      if (it == pairs.end()) break;
      const Source& source = sources_[first_source_[call] + it->first];
      if (source.call < 0) operand = source.index;
      call = source.call;
      output = source.index;
    }
    if (operand < 0 || taken[operand] || !operands_[operand].value) continue;
    if (operands_[operand].value->type_ptr() != value(results_[k])->type_ptr()) continue;
    taken[operand] = true;
    aliases_.emplace_back(operand, static_cast<int>(k));
  }
}

std::vector<int64_t> Region::NonDonatable() const {
  std::vector<int64_t> out;
  for (const auto& [operand, result] : aliases_) {
    // One reference of the region itself beside those of its calls.
    if (operands_[operand].value->use_count() > uses_[operand] + 1) out.push_back(operand);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::shared_ptr<const CallSpec> Region::BuildSpec() const {
  auto spec = std::make_shared<CallSpec>();
  spec->name = "torch_tpu::region";
  spec->key = key_;
  spec->aliases = aliases_;
  spec->target = calls_.front().spec->target;
  auto trace = std::make_shared<Trace>();
  SubCall call;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const OperandRef& o = operands_[i];
    const TensorType type = o.value ? o.value->type() : TensorType{o.dtype, {}};
    spec->operands.push_back(type);
    trace->placeholders.push_back(type);
    call.args.push_back({Whole(static_cast<int>(i), type)});
  }
  for (size_t n = 0; n < calls_.size(); ++n) {
    Trace::Node node;
    node.spec = calls_[n].spec;
    SplitLine(calls_[n].python_line, &node);
    for (size_t i = 0; i < calls_[n].operands.size(); ++i) {
      const Source& source = sources_[first_source_[n] + i];
      Binding b{};
      b.kind = source.call < 0 ? Binding::kPlaceholder : Binding::kNode;
      b.index = source.call < 0 ? source.index : source.call;
      b.output = source.index;
      node.operands.push_back(b);
    }
    trace->nodes.push_back(std::move(node));
  }
  for (const Result& r : results_) {
    const TensorType& type = value(r)->type();
    Trace::Output output;
    output.source.kind = Binding::kNode;
    output.source.index = r.call;
    output.source.output = r.output;
    output.read = Whole(0, type);
    trace->outputs.push_back(std::move(output));
    OutputSpec o;
    o.type = o.result = type;
    call.outputs.push_back(std::move(o));
  }
  spec->seed_operand = static_cast<int>(spec->operands.size());
  call.trace = std::move(trace);
  spec->calls.push_back(std::move(call));
  return spec;
}

std::string Region::Describe() const {
  constexpr size_t kNamed = 2;
  std::string out;
  for (size_t i = 0; i < calls_.size() && i < kNamed; ++i) {
    out += (out.empty() ? "" : ", ") + calls_[i].spec->name;
    if (!calls_[i].python_line.empty()) out += " (recorded at " + calls_[i].python_line + ")";
  }
  if (calls_.size() > kNamed) out += " and " + std::to_string(calls_.size() - kNamed) + " more";
  return out;
}

void Region::Wait() {
  std::unique_lock lock(mutex_);
  finished_cv_.wait(lock, [&] { return finished_; });
}

bool Region::finished() {
  std::lock_guard lock(mutex_);
  return finished_;
}

void Region::Finish() {
  // Its values keep a finished region, so it keeps nothing: neither values nor the program.
  std::vector<DeferredCall>().swap(calls_);
  std::vector<OperandRef>().swap(operands_);
  std::vector<Source>().swap(sources_);
  progress.program.reset();
  std::lock_guard lock(mutex_);
  finished_ = true;
  finished_cv_.notify_all();
}

}  // namespace torch_tpu::graph
