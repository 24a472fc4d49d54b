// Reads the arguments of a call, with refusals that name the operator and the position.
#include "ops/call.h"

#include <utility>

namespace torch_tpu::ops {
namespace {

using shlo::BuildError;

const char* KindName(const Argument& a) {
  static constexpr const char* kNames[] = {"None",     "a Tensor",   "a Tensor[]", "a Tensor?[]",
                                           "a number", "a number[]", "a bool",     "an int",
                                           "an int[]", "a bool[]",   "a str",      "a dtype"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(a.v)>);
  return kNames[a.v.index()];
}

[[noreturn]] void WrongKind(const Call& c, int i, const char* expected) {
  std::string got = i >= 0 && i < c.size() ? KindName(c.args[i]) : "missing";
  throw BuildError(c.name() + ": argument " + std::to_string(i) + " is " + got + ", expected " +
                   expected);
}

// The argument as a T, or null when it is missing or something else.
template <typename T>
const T* Get(const Call& c, int i) {
  return i >= 0 && i < c.size() ? std::get_if<T>(&c.args[i].v) : nullptr;
}

template <typename T>
const T& Expect(const Call& c, int i, const char* expected) {
  const T* v = Get<T>(c, i);
  if (v == nullptr) WrongKind(c, i, expected);
  return *v;
}

Value OperandOf(Builder& b, const Number& n) {
  if (n.operand || !n.constant) return n.operand;
  return shlo::constant(b, *n.constant, TensorType{n.dtype, {}});
}

}  // namespace

bool Call::has(int i) const {
  return i >= 0 && i < size() && !std::holds_alternative<std::monostate>(args[i].v);
}

Value Call::tensor(int i) const {
  if (const Number* n = Get<Number>(*this, i)) return OperandOf(builder_, *n);
  return Expect<Value>(*this, i, "a Tensor");
}

std::optional<Value> Call::opt_tensor(int i) const {
  if (!has(i)) return std::nullopt;
  return tensor(i);
}

std::vector<Value> Call::tensors(int i) const {
  return Expect<std::vector<Value>>(*this, i, "a Tensor[]");
}

std::vector<std::optional<Value>> Call::opt_tensors(int i) const {
  if (const auto* all = Get<std::vector<Value>>(*this, i)) return {all->begin(), all->end()};
  return Expect<std::vector<std::optional<Value>>>(*this, i, "a Tensor?[]");
}

Value Call::number(int i) const {
  return OperandOf(builder_, Expect<Number>(*this, i, "a number"));
}

std::vector<Value> Call::numbers(int i) const {
  std::vector<Value> out;
  for (const Number& n : Expect<std::vector<Number>>(*this, i, "a number[]"))
    out.push_back(OperandOf(builder_, n));
  return out;
}

bool Call::number_is(int i, double value) const {
  if (!has(i)) return false;
  const Number& n = Expect<Number>(*this, i, "a number");
  return n.constant && *n.constant == value;
}

double Call::static_number(int i) const {
  const Number& n = Expect<Number>(*this, i, "a number");
  if (!n.constant) {
    throw BuildError(
        name_ + ": argument " + std::to_string(i) +
        " is not known while the program is built; list it in static_numbers of LOWER");
  }
  return n.constant->real();
}

int64_t Call::integer(int i) const { return Expect<int64_t>(*this, i, "an int"); }
int64_t Call::integer_or(int i, int64_t fallback) const { return has(i) ? integer(i) : fallback; }
bool Call::boolean(int i) const { return Expect<bool>(*this, i, "a bool"); }
bool Call::boolean_or(int i, bool fallback) const { return has(i) ? boolean(i) : fallback; }

Dims Call::ints(int i) const {
  if (const int64_t* one = Get<int64_t>(*this, i)) return {*one};
  return Expect<Dims>(*this, i, "an int[]");
}

std::optional<Dims> Call::opt_ints(int i) const {
  if (!has(i)) return std::nullopt;
  return ints(i);
}

std::vector<bool> Call::bools(int i) const {
  return Expect<std::vector<bool>>(*this, i, "a bool[]");
}
std::string Call::string(int i) const { return Expect<std::string>(*this, i, "a str"); }

std::optional<std::string> Call::opt_string(int i) const {
  if (!has(i)) return std::nullopt;
  return string(i);
}

std::optional<DType> Call::opt_dtype(int i) const {
  if (!has(i)) return std::nullopt;
  return Expect<DType>(*this, i, "a dtype");
}

Value Call::operand(int i) const {
  Value v = tensor(i);
  if (common == DType::kInvalid || outs.empty()) {
    throw BuildError(name_ +
                     ": operand() needs an output and a common dtype, and the call has none");
  }
  return shlo::broadcast_to(shlo::convert(v, shlo::opmath_dtype(common)), out().dims);
}

Value Call::rng_state() {
  if (!rng)
    throw BuildError(name_ + ": draws random bits but is not registered with {.random = true}");
  if (std::exchange(used_rng, true))
    throw BuildError(name_ + ": asked twice for the random state of one call");
  return *rng;
}

static void AddCheck(Call& c, Value ok, std::string message, bool index_error) {
  if (!c.debug()) return;
  Dims all;
  for (int64_t d = 0; d < ok.rank(); ++d) all.push_back(d);
  c.checks.push_back({shlo::reduce_all(ok, all), std::move(message), index_error});
}

void Call::check_index(Value ok, std::string message) {
  AddCheck(*this, ok, std::move(message), true);
}
void Call::check(Value ok, std::string message) { AddCheck(*this, ok, std::move(message), false); }

}  // namespace torch_tpu::ops
