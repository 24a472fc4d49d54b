// From a CallSpec to StableHLO: read the arguments, run the lowering, store the results.
#include <algorithm>

#include "graph/call_spec.h"
#include "ops/lower.h"

namespace torch_tpu::graph {
namespace {

using shlo::Builder;
using shlo::Value;  // graph::Value, the run-time kind, does not occur in this file

// State of emitting one CallSpec.
struct Emitter {
  const CallSpec& spec;
  Builder& builder;
  std::span<const Value> operands;
  std::vector<ops::Check>* checks;
  int next_seed = 0;

  Value ScalarOf(ScalarBits bits, DType dtype) {
    const TensorType type{dtype, {}};
    if (IsSigned(dtype) || dtype == DType::kU64) {
      // Exact for all 64 bits, where a double is not.
      int64_t v = static_cast<int64_t>(bits.lo);
      if (dtype != DType::kU64) v = static_cast<int64_t>(NumberOf(bits, dtype).real());
      if (dtype == DType::kS64) v = static_cast<int64_t>(bits.lo);
      return shlo::constant(builder, v, type);
    }
    if (IsComplex(dtype)) return shlo::constant(builder, NumberOf(bits, dtype), type);
    return shlo::constant(builder, NumberOf(bits, dtype).real(), type);
  }

  Value Base(const TensorSpec& t) {
    Value scalar;
    if (t.operand < 0) {
      scalar = ScalarOf(*t.splat, t.base.dtype);
    } else if (t.splat_operand) {
      scalar = operands[t.operand];
    } else {
      return operands[t.operand];
    }
    return shlo::broadcast_in_dim(scalar, t.base.dims, {});
  }

  std::vector<Value> Starts(const TensorSpec& t) {
    if (!t.plan.dynamic) return {};
    const auto first = operands.begin() + t.first_start;
    return std::vector<Value>(first, first + static_cast<int64_t>(t.plan.starts.size()));
  }

  Value Read(const TensorSpec& t) {
    if (t.rank0_number) return shlo::convert(operands[t.operand], t.dtype);
    const bool splat = t.operand < 0 || t.splat_operand;
    if (splat && (t.whole || t.base.dtype == t.dtype)) {
      // A splat reads the same through any view.
      Value scalar = t.operand < 0 ? ScalarOf(*t.splat, t.base.dtype) : operands[t.operand];
      return shlo::broadcast_in_dim(shlo::convert(scalar, t.dtype), t.sizes, {});
    }
    Value base = Base(t);
    if (t.whole) return shlo::reshape(base, t.sizes);
    const auto starts = Starts(t);
    return views::EmitRead(t.plan, base, starts);
  }

  Value Write(const TensorSpec& t, Value result) {
    Value update = shlo::convert(result, t.dtype);
    if (update.dims() != t.sizes) update = shlo::broadcast_to(update, t.sizes);
    if (t.whole) return shlo::reshape(update, t.base.dims);
    const auto starts = Starts(t);
    return views::EmitWrite(t.plan, Base(t), update, starts);
  }

  ops::Number ReadNumber(const NumberSpec& n) {
    ops::Number number;
    number.dtype = n.dtype;
    number.constant = n.constant;
    if (n.operand >= 0) {
      number.operand = operands[n.operand];
    } else {
      // A wide float constant would drag float64 into programs that have none.
      const DType dtype = n.dtype == DType::kF64    ? DType::kF32
                          : n.dtype == DType::kC128 ? DType::kC64
                                                    : n.dtype;
      number.operand = IsComplex(dtype) ? shlo::constant(builder, *n.constant, {dtype, {}})
                                        : shlo::constant(builder, n.constant->real(), {dtype, {}});
    }
    return number;
  }

  ops::Argument ReadArg(const ArgSpec& arg) {
    ops::Argument out;
    std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, TensorSpec>) {
            out.v = Read(v);
          } else if constexpr (std::is_same_v<T, NumberSpec>) {
            out.v = ReadNumber(v);
          } else if constexpr (std::is_same_v<T, std::vector<NumberSpec>>) {
            std::vector<ops::Number> list;
            for (const auto& n : v) list.push_back(ReadNumber(n));
            out.v = std::move(list);
          } else if constexpr (std::is_same_v<T, std::vector<std::optional<TensorSpec>>>) {
            if (arg.optional_list) {
              std::vector<std::optional<Value>> list;
              for (const auto& t : v) list.push_back(t ? std::optional(Read(*t)) : std::nullopt);
              out.v = std::move(list);
            } else {
              std::vector<Value> list;
              for (const auto& t : v) list.push_back(Read(*t));
              out.v = std::move(list);
            }
          } else {
            out.v = v;
          }
        },
        arg.v);
    return out;
  }

  std::vector<Value> RunTrace(const Trace& trace, const ops::Call& call);

  void Store(const SubCall& sub, std::span<const Value> results, std::vector<Value>* out) {
    for (size_t k = 0; k < sub.outputs.size(); ++k) {
      const OutputSpec& o = sub.outputs[k];
      if (o.kind == OutputSpec::kNone) continue;
      if (k >= results.size() || !static_cast<bool>(results[k])) {
        throw shlo::BuildError(spec.name + ": the lowering gave no result " + std::to_string(k));
      }
      if (o.kind == OutputSpec::kWrite) {
        out->push_back(Write(o.target, results[k]));
      } else {
        out->push_back(o.order.empty() ? results[k] : shlo::transpose(results[k], o.order));
      }
    }
  }

  void Run(const SubCall& sub, std::vector<Value>* out) {
    ops::Call call(builder, spec.name);
    builder.SetLocation(spec.name);
    for (const ArgSpec& arg : sub.args) {
      call.args.push_back(ReadArg(arg));
      const auto* tensor = std::get_if<TensorSpec>(&arg.v);
      call.strided.push_back(tensor != nullptr && !tensor->contiguous);
    }
    for (const OutputSpec& o : sub.outputs) call.outs.push_back(o.type);
    call.common = sub.common;
    call.debug_mode = spec.debug;
    call.dot_precision = spec.precision;
    call.compile_target = spec.target;
    if (sub.trace) {
      builder.SetLocation(spec.name);
      Store(sub, RunTrace(*sub.trace, call), out);
      return;
    }
    if (sub.random) call.rng = operands[spec.seed_operand + next_seed++];
    auto results = ops::RunLowering(*sub.lowering, call);
    if (!results.ok()) throw shlo::BuildError(results.status().message());
    for (ops::Check& check : call.checks) checks->push_back(std::move(check));
    builder.SetLocation(spec.name);
    Store(sub, *results, out);
    builder.SetLocation("");
  }
};

void AppendTensors(const ops::Argument& arg, std::vector<Value>* out) {
  if (const auto* v = std::get_if<Value>(&arg.v)) out->push_back(*v);
  if (const auto* l = std::get_if<std::vector<Value>>(&arg.v))
    out->insert(out->end(), l->begin(), l->end());
  if (const auto* l = std::get_if<std::vector<std::optional<Value>>>(&arg.v)) {
    for (const auto& v : *l) {
      if (v) out->push_back(*v);
    }
  }
}

std::vector<Value> Emitter::RunTrace(const Trace& trace, const ops::Call& call) {
  std::vector<Value> placeholders;
  for (const auto& arg : call.args) AppendTensors(arg, &placeholders);
  std::vector<std::vector<Value>> made(trace.nodes.size());
  const int first_captured =
      static_cast<int>(spec.operands.size()) - static_cast<int>(spec.captured.size());
  const int first_seed = spec.seed_operand + next_seed;
  next_seed += trace.num_seeds;
  auto resolve = [&](const Trace::Binding& b, const TensorType& type) -> Value {
    switch (b.kind) {
      case Trace::Binding::kPlaceholder:
        return shlo::reshape(placeholders[b.index], type.dims);
      case Trace::Binding::kNode:
        return made[b.index][b.output];
      case Trace::Binding::kSeed:
        return operands[first_seed + b.index];
      case Trace::Binding::kCaptured:
        return operands[first_captured + b.index];
      case Trace::Binding::kConstant:
        break;
    }
    return shlo::broadcast_in_dim(ScalarOf(b.bits, type.dtype), type.dims, {});
  };
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    const auto& node = trace.nodes[n];
    std::vector<Value> inputs;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      inputs.push_back(resolve(node.operands[i], node.spec->operands[i]));
    }
    if (!node.file.empty()) builder.SetSource(node.file, node.line);
    made[n] = EmitCall(*node.spec, builder, inputs, checks);
    if (!node.file.empty()) builder.SetSource("", 0);
  }
  std::vector<Value> results;
  for (const auto& o : trace.outputs) {
    if (!o.defined) {
      results.emplace_back();
      continue;
    }
    TensorSpec read = o.read;
    Value source = resolve(o.source, TensorType{read.base.dtype, read.base.dims});
    read.operand = 0;
    Emitter reader{spec, builder, std::span<const Value>(&source, 1), checks};
    if (!read.whole) read.plan.dynamic = false;
    results.push_back(reader.Read(read));
  }
  for (size_t k = 0; k < results.size() && k < call.outs.size(); ++k) {
    if (results[k]) results[k] = shlo::convert(results[k], call.outs[k].dtype);
  }
  return results;
}

}  // namespace

int CallSpec::num_results() const {
  int n = 0;
  for (const auto& call : calls) {
    for (const auto& o : call.outputs) n += o.kind != OutputSpec::kNone;
  }
  return n;
}

std::vector<shlo::Value> EmitCall(const CallSpec& spec, shlo::Builder& builder,
                                  std::span<const shlo::Value> operands,
                                  std::vector<ops::Check>* checks) {
  Emitter emitter{spec, builder, operands, checks};
  std::vector<shlo::Value> out;
  for (const SubCall& sub : spec.calls) emitter.Run(sub, &out);
  return out;
}

Result<Module> BuildModule(const CallSpec& spec) {
  try {
    std::string module_name = spec.name;
    std::replace_if(
        module_name.begin(), module_name.end(), [](char c) { return !std::isalnum(c); }, '_');
    shlo::Builder builder(module_name);
    std::vector<shlo::Value> operands;
    for (const TensorType& type : spec.operands) operands.push_back(builder.Argument(type));
    for (const auto& [operand, output] : spec.aliases) {
      shlo::ArgumentAttributes attributes;
      attributes.aliasing_output = output;
      builder.SetArgumentAttributes(operand, attributes);
    }
    std::vector<ops::Check> checks;
    std::vector<shlo::Value> results = EmitCall(spec, builder, operands, &checks);
    Module module;
    module.num_results = static_cast<int>(results.size());
    for (const auto& check : checks) {
      results.push_back(check.ok);
      module.checks.push_back(check.message);
      module.check_is_index.push_back(check.index_error);
    }
    module.text = builder.Finish(results);
    return module;
  } catch (const shlo::BuildError& e) {
    return InvalidArgument(e.what());
  }
}

}  // namespace torch_tpu::graph
