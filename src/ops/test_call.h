// For tests: one call of a lowering, described argument by argument, and the program that it gives.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/lower.h"

namespace torch_tpu::ops {

class TestCall {
 public:
  explicit TestCall(std::string name) : name_(std::move(name)), call_(builder_, name_) {}

  TestCall& Tensor(DType dtype, const Dims& dims) { return Arg(Placeholder({dtype, dims})); }
  // A tensor argument that the program computes from one of `from`.
  template <typename Make>
  TestCall& Made(const TensorType& from, const Make& make) {
    return Arg(make(Placeholder(from)));
  }
  TestCall& Tensors(const std::vector<TensorType>& types) {
    std::vector<Value> list;
    for (const TensorType& type : types) list.push_back(Placeholder(type));
    return Arg(list);
  }
  TestCall& OptTensors(const std::vector<std::optional<TensorType>>& types) {
    std::vector<std::optional<Value>> list;
    for (const auto& type : types) {
      list.push_back(type ? std::optional(Placeholder(*type)) : std::nullopt);
    }
    return Arg(list);
  }
  // A Python float whose value the program does not know.
  TestCall& Number() { return Arg(ops::Number{DType::kF64, {}, Placeholder({DType::kF64, {}})}); }
  // A number that is part of the program.
  TestCall& Constant(double value) {
    return Arg(ops::Number{DType::kF64, value, shlo::constant(builder_, value, {DType::kF32, {}})});
  }
  TestCall& None() { return Arg(std::monostate()); }
  template <typename T>
  TestCall& Arg(T value) {
    call_.args.push_back({std::move(value)});
    return *this;
  }
  TestCall& Int(int64_t value) { return Arg(value); }
  TestCall& Ints(Dims value) { return Arg(std::move(value)); }
  TestCall& Bool(bool value) { return Arg(value); }
  TestCall& String(std::string value) { return Arg(std::move(value)); }
  TestCall& Out(DType dtype, const Dims& dims) {
    call_.outs.push_back({dtype, dims});
    return *this;
  }
  TestCall& Common(DType dtype) {
    call_.common = dtype;
    return *this;
  }
  // Gives the call a random state: an argument of the program.
  TestCall& Random() {
    call_.rng = Placeholder({DType::kU64, {2}});
    return *this;
  }
  TestCall& For(Target target) {
    call_.compile_target = target;
    return *this;
  }
  TestCall& Debug() {
    call_.debug_mode = true;
    return *this;
  }

  // Runs the lowering once. The module's text, or "error: " and the message.
  std::string Text() {
    const LoweringEntry* entry = FindLowering(name_);
    if (entry == nullptr) return "error: no lowering";
    if (call_.outs.empty() && entry->options.shape != nullptr) {
      try {
        call_.outs = entry->options.shape(call_);
      } catch (const shlo::BuildError& e) {
        return std::string("error: ") + e.what();
      }
    }
    auto results = RunLowering(*entry, call_);
    if (!results.ok()) return "error: " + results.status().message();
    std::vector<Value> given;  // without absent optional outputs
    for (Value v : *results) {
      if (v) given.push_back(v);
    }
    return builder_.Finish(given);
  }
  // The operations of the program in order, without dialect and constants: "iota compare select".
  std::string Ops() {
    const std::string text = Text();
    if (text.starts_with("error")) return text;
    std::string ops;
    for (size_t at = text.find("\"stablehlo."); at != std::string::npos;
         at = text.find("\"stablehlo.", at + 1)) {
      const std::string op = text.substr(at + 11, text.find('"', at + 1) - at - 11);
      if (op != "constant" && op != "return") ops += (ops.empty() ? "" : " ") + op;
    }
    return ops;
  }
  const std::vector<TensorType>& outs() const { return call_.outs; }
  // Messages of the Debug checks that Text or Ops emitted.
  std::vector<std::string> Checks() const {
    std::vector<std::string> messages;
    for (const Check& check : call_.checks) messages.push_back(check.message);
    return messages;
  }

 private:
  Value Placeholder(const TensorType& type) { return builder_.Argument(type); }

  std::string name_;
  Builder builder_;
  Call call_;
};

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace torch_tpu::ops
