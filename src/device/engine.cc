// Launching and recording.
#include "device/engine.h"

#include "base/env.h"
#include "cache/make_key.h"
#include "device/errors.h"
#include "device/generator.h"
#include "device/mode.h"
#include "device/precision.h"
#include "device/stream.h"
#include "device/tracer.h"
#include "graph/deferred.h"

namespace torch_tpu::device {
namespace {

struct Scratch {
  std::vector<std::unique_ptr<Signature>> signatures;
  size_t depth = 0;
};

Scratch& LocalScratch() {
  thread_local Scratch scratch;
  return scratch;
}

graph::OperandRef SeedOperand(graph::Runtime& runtime,
                              const std::optional<at::Generator>& generator) {
  const std::array<uint64_t, 2> state = NextRandomState(generator);
  static const graph::TensorType* type = graph::InternType(DType::kU64, {2});
  return {
      ValueOrThrow(runtime.FromHost(state.data(), type, "torch_tpu::seed")), DType::kInvalid, {}};
}

ops::Target CurrentTarget() {
  static const ops::Target here = [] {
    const auto runtime = graph::Runtime::Get();
    return runtime.ok() && (*runtime)->is_cpu() ? ops::Target::kCpu : ops::Target::kTpu;
  }();
  return Tracer::ForAbsentTpu() ? ops::Target::kTpu : here;
}

[[noreturn]] void RaiseCheck(const graph::CheckFailure& failure, const std::string& name) {
  std::string text = name + ": " + failure.message;
  if (std::string line = PythonLine(); !line.empty()) text += " (at " + line + ")";
  if (failure.index_error) TORCH_CHECK_INDEX(false, text);
  TORCH_CHECK(false, text);
}

// Operands that a program may overwrite but that somebody besides this call and the written handle
// still holds.
void NonDonatable(const graph::CallSpec& spec, const std::vector<graph::OperandRef>& operands,
                  c10::SmallVector<int64_t, 8>* out) {
  constexpr int kOurs = 3;  // the handle, the signature's use, its operand
  for (const auto& [operand, result] : spec.aliases) {
    const auto& value = operands[operand].value;
    if (!value || value->use_count() > kOurs) out->push_back(operand);
  }
}

// Numbers and random states are taken now, so that deferring changes no result.
void Record(const Entry& entry, Signature& signature, const std::optional<at::Generator>& generator,
            std::vector<ValueRef>* results) {
  const graph::CallSpec& spec = *entry.spec;
  std::vector<graph::OperandRef> operands = std::move(signature.operands());
  if (spec.num_seeds > 0) {
    graph::Runtime& runtime = *ValueOrThrow(graph::Runtime::Get());
    for (int i = 0; i < spec.num_seeds; ++i) operands.push_back(SeedOperand(runtime, generator));
  }
  for (const auto& value : spec.captured) operands.push_back({value, DType::kInvalid, {}});
  std::string line;
  if (env::Get().trace_python) line = PythonLine();
  ThrowIfError(graph::Recorder::Get().Append(entry.spec, std::move(operands), std::move(line),
                                             CurrentWork(), results),
               spec.name.c_str());
}

}  // namespace

ScratchSignature::ScratchSignature() {
  Scratch& scratch = LocalScratch();
  if (scratch.depth == scratch.signatures.size())
    scratch.signatures.push_back(std::make_unique<Signature>());
  signature_ = scratch.signatures[scratch.depth++].get();
}

ScratchSignature::~ScratchSignature() {
  signature_->Clear();
  --LocalScratch().depth;
}

uint64_t ModeBits(bool precision) {
  uint64_t bits = CurrentMode() == Mode::kDebug ? 1 : 0;
  if (CurrentTarget() == ops::Target::kTpu) bits |= 2;
  if (precision) bits |= (1 + static_cast<uint64_t>(CurrentPrecision())) << 2;
  return bits;
}

void Execute(Entry& entry, Signature& signature, const std::optional<at::Generator>& generator,
             std::vector<ValueRef>* results) {
  const graph::CallSpec& spec = *entry.spec;
  auto& operands = signature.operands();
  if (Tracer* tracer = Tracer::Current()) {
    auto made = tracer->Append(entry.spec, operands);
    results->insert(results->end(), made.begin(), made.end());
    return;
  }
  if (CurrentMode() == Mode::kDefer) return Record(entry, signature, generator, results);
  graph::Runtime& runtime = *ValueOrThrow(graph::Runtime::Get());
  const std::shared_ptr<graph::Program> program = entry.ProgramOrThrow(runtime);
  for (int i = 0; i < spec.num_seeds; ++i) operands.push_back(SeedOperand(runtime, generator));
  for (const auto& value : spec.captured) operands.push_back({value, DType::kInvalid, {}});
  c10::SmallVector<int64_t, 8> non_donatable;
  if (!spec.aliases.empty()) NonDonatable(spec, operands, &non_donatable);
  for (const auto& [operand, result] : spec.aliases) {
    if (std::find(non_donatable.begin(), non_donatable.end(), operand) == non_donatable.end()) {
      operands[operand].value->MarkDonated();
    }
  }
  std::vector<graph::CheckFailure> failures;
  Status status =
      runtime.Launch(*program, operands, {non_donatable.data(), non_donatable.size()},
                     spec.name.c_str(), CurrentWork(), results, spec.debug ? &failures : nullptr);
  if (!status.ok()) {
    std::string context = spec.name;
    if (spec.debug || status.code() == StatusCode::kResourceExhausted) {
      if (std::string line = PythonLine(); !line.empty()) context += " (at " + line + ")";
    }
    ThrowIfError(status, context.c_str());
  }
  if (!failures.empty()) RaiseCheck(failures.front(), spec.name);
}

graph::OutputSpec FreshOutput(const graph::TensorType& type, const Dims& strides) {
  graph::OutputSpec o;
  o.kind = graph::OutputSpec::kFresh;
  o.type = o.result = type;
  Dims memory, order;
  if (views::DenseOrder(type.dims, strides, &memory, &order)) {
    bool identity = true;
    for (size_t i = 0; i < order.size(); ++i) identity &= order[i] == static_cast<int64_t>(i);
    if (!identity) {
      o.order = order;
      o.result.dims = memory;
    }
  }
  return o;
}

graph::OutputSpec WriteOutput(const graph::TensorType& type, const Signature& signature, int use) {
  graph::OutputSpec o;
  o.kind = graph::OutputSpec::kWrite;
  o.type = type;
  o.target = signature.SpecOf(use);
  if (o.target.whole) {
    o.target.base.dtype = o.target.dtype;
  }
  o.result = o.target.base;
  return o;
}

void FinishSpec(graph::CallSpec* spec, const Signature& signature) {
  const int n = static_cast<int>(const_cast<Signature&>(signature).operands().size());
  for (int i = 0; i < n; ++i) spec->operands.push_back(signature.OperandType(i));
  spec->debug = CurrentMode() == Mode::kDebug;
  spec->target = CurrentTarget();
  spec->precision = CurrentPrecision();
  spec->key = cache::MakeKey(spec->name, signature.structure(), signature.sizes());
  spec->seed_operand = n;
  int result = 0;
  for (const auto& call : spec->calls) {
    if (call.trace) {
      spec->num_seeds += call.trace->num_seeds;
      spec->captured.insert(spec->captured.end(), call.trace->captured.begin(),
                            call.trace->captured.end());
    } else if (call.random) {
      ++spec->num_seeds;
    }
    for (const auto& o : call.outputs) {
      if (o.kind == graph::OutputSpec::kNone) continue;
      const int operand = o.target.operand;
      if (o.kind == graph::OutputSpec::kWrite && operand >= 0 && !o.target.splat_operand &&
          spec->operands[operand] == o.result) {
        spec->aliases.emplace_back(operand, result);
      }
      spec->result_types.push_back(graph::InternType(o.result.dtype, o.result.dims));
      ++result;
    }
  }
  for (int i = 0; i < spec->num_seeds; ++i) spec->operands.push_back({DType::kU64, {2}});
  for (const auto& value : spec->captured) spec->operands.push_back(value->type());
}

}  // namespace torch_tpu::device
