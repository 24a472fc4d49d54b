// Tests of which recorded calls a region keeps, its key, what it may donate and its program.
#include "graph/region.h"

#include <gtest/gtest.h>

#include "graph/test_calls.h"

namespace torch_tpu::graph {
namespace {

using testing::InPlace;
using testing::Operand;
using testing::Spec;
using testing::SplatValue;

constexpr uint64_t kFirst = 100;  // number of the first call

// Records calls by hand. `results[i]` is what the program outside holds of call i: reset it to let
// go.
struct Tape {
  std::vector<DeferredCall> calls;
  std::vector<ValueRef> results;
  InFlight in_flight;
  std::shared_ptr<Region> region;

  Tape() = default;
  Tape(const Tape&) = delete;

  const ValueRef& Add(std::shared_ptr<const CallSpec> spec, std::vector<ValueRef> operands) {
    DeferredCall call;
    for (ValueRef& v : operands) call.operands.push_back(Operand(v));
    operands.clear();
    call.results.push_back(
        Value::Deferred(spec->result_types[0], kFirst + calls.size(), 0, spec->name.c_str()));
    call.spec = std::move(spec);
    results.push_back(call.results[0]);
    calls.push_back(std::move(call));
    return results.back();
  }
  std::shared_ptr<Region> Form() {
    region = Region::Form(std::move(calls), kFirst, in_flight);
    return region;
  }
  ~Tape() {  // a region and its values hold one another until it is finished
    if (region) region->Finish();
  }
};

std::vector<std::string> Names(const Region& region) {
  std::vector<std::string> out;
  for (const DeferredCall& call : region.calls()) out.push_back(call.spec->name);
  return out;
}

TEST(Region, KeepsAllThatLeadsToWhatIsHeld) {
  const ValueRef x = SplatValue();
  Tape tape;
  tape.results.reserve(8);
  tape.Add(Spec("a", 1), {x});
  tape.Add(Spec("b", 1), {tape.results[0]});
  tape.results[0] = {};
  auto region = tape.Form();
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(Names(*region), (std::vector<std::string>{"a", "b"}));
  // Only b is held from outside.
  ASSERT_EQ(region->results().size(), 1u);
  EXPECT_EQ(region->results()[0].call, 1);
  EXPECT_EQ(region->value(region->results()[0]).get(), tape.results[1].get());
  EXPECT_EQ(region->operands().size(), 1u);
}

TEST(Region, LiveSiblingIsComputedAndDeadSiblingIsNot) {
  const ValueRef x = SplatValue();
  Tape tape;
  tape.results.reserve(8);
  tape.Add(Spec("a", 1), {x});
  tape.Add(Spec("live", 1), {tape.results[0]});
  tape.Add(Spec("dead", 1), {tape.results[0]});
  tape.Add(Spec("dead_too", 1), {tape.results[2]});
  tape.results[2] = {};
  tape.results[3] = {};
  auto region = tape.Form();
  EXPECT_EQ(Names(*region), (std::vector<std::string>{"a", "live"}));
  ASSERT_EQ(region->results().size(), 2u);
  EXPECT_EQ(region->results()[0].call, 0);
  EXPECT_EQ(region->results()[1].call, 1);
  EXPECT_EQ(tape.results[0]->region(), region);
}

TEST(Region, NothingIsFormedOfDeadCallsOrOfNone) {
  Tape tape;
  tape.results.reserve(8);
  tape.Add(Spec("a", 1), {SplatValue()});
  tape.Add(Spec("b", 1), {tape.results[0]});
  tape.results.clear();
  EXPECT_EQ(tape.Form(), nullptr);
  EXPECT_EQ(Tape().Form(), nullptr);
}

TEST(Region, ResultsOfEarlierRegionsAreOperands) {
  const ValueRef before = Value::Deferred(testing::Type(), kFirst - 1, 0, "before");
  const ValueRef number;  // an element made on the spot
  Tape tape;
  tape.Add(Spec("a", 3), {before, before, number});
  auto region = tape.Form();
  ASSERT_EQ(region->operands().size(), 2u);  // `before` once, and the number
  EXPECT_EQ(region->operands()[0].value.get(), before.get());
  EXPECT_FALSE(region->operands()[1].value);
}

cache::Key KeyOf(const std::vector<std::string>& names, bool hold_first = false,
                 bool second_reads_operand = false, uint64_t size = 7) {
  const ValueRef x = SplatValue();
  Tape tape;
  tape.results.reserve(8);
  tape.Add(Spec(names[0], 1, size), {x});
  tape.Add(Spec(names[1], 1, size), {second_reads_operand ? x : tape.results[0]});
  if (!hold_first && !second_reads_operand) tape.results[0] = {};
  return tape.Form()->key();
}

TEST(Region, KeyIsThatOfTheCallsTheirWiringAndWhatIsHeld) {
  const cache::Key key = KeyOf({"a", "b"});
  EXPECT_EQ(KeyOf({"a", "b"}), key);
  EXPECT_NE(KeyOf({"a", "c"}), key);
  EXPECT_NE(KeyOf({"b", "a"}), key);
  EXPECT_NE(KeyOf({"a", "b"}, /*hold_first=*/true), key);
  EXPECT_NE(KeyOf({"a", "b"}, true, /*second_reads_operand=*/true), KeyOf({"a", "b"}, true));
  const cache::Key larger = KeyOf({"a", "b"}, false, false, /*size=*/8);
  EXPECT_EQ(larger.structure, key.structure);
  EXPECT_NE(larger.sizes, key.sizes);
}

TEST(Region, KeyDoesNotKnowNumbersOfCallsNorDeadOnes) {
  const cache::Key key = KeyOf({"a", "b"});
  const ValueRef x = SplatValue();
  Tape tape;
  tape.results.reserve(8);
  tape.Add(Spec("dead", 1), {x});
  tape.Add(Spec("a", 1), {x});
  tape.Add(Spec("b", 1), {tape.results[1]});
  tape.results[0] = {};
  tape.results[1] = {};
  EXPECT_EQ(tape.Form()->key(), key);
}

TEST(Region, OneOperandTwiceIsNotTwoOperands) {
  const auto key = [](const ValueRef& x, const ValueRef& y) {
    Tape tape;
    tape.Add(Spec("a", 2), {x, y});
    return tape.Form()->key();
  };
  const ValueRef x = SplatValue(), y = SplatValue();
  EXPECT_NE(key(x, x), key(x, y));
  EXPECT_EQ(key(x, y), key(y, x));
}

TEST(Region, InPlaceChainDonatesItsFirstOperand) {
  ValueRef x = SplatValue();
  Tape tape;
  tape.results.reserve(8);
  tape.Add(InPlace("a_"), {x});
  tape.Add(InPlace("b_"), {tape.results[0]});
  tape.results[0] = {};
  auto region = tape.Form();
  EXPECT_EQ(region->aliases(), (std::vector<std::pair<int, int>>{{0, 0}}));
  EXPECT_EQ(region->NonDonatable(), std::vector<int64_t>{0});  // this test holds x
  x = {};
  EXPECT_EQ(region->NonDonatable(), std::vector<int64_t>{});
}

TEST(Region, OtherReadersInsideDoNotKeepABuffer) {
  ValueRef x = SplatValue();
  Tape tape;
  tape.results.reserve(8);
  tape.Add(Spec("reads", 1), {x});
  tape.Add(InPlace("a_"), {x});
  auto region = tape.Form();
  EXPECT_EQ(region->aliases(), (std::vector<std::pair<int, int>>{{0, 1}}));
  EXPECT_EQ(region->NonDonatable(), std::vector<int64_t>{0});
  x = {};
  EXPECT_EQ(region->NonDonatable(), std::vector<int64_t>{});
}

TEST(Region, DeadReadersLetGoOfWhatIsDonated) {
  ValueRef x = SplatValue();
  Tape tape;
  tape.results.reserve(8);
  tape.Add(Spec("dead", 1), {x});
  tape.Add(InPlace("a_"), {x});
  tape.results[0] = {};
  x = {};
  EXPECT_EQ(tape.Form()->NonDonatable(), std::vector<int64_t>{});
}

TEST(Region, OneOperandIsDonatedToOneResult) {
  ValueRef x = SplatValue();
  Tape tape;
  tape.Add(InPlace("a_"), {x});
  tape.Add(InPlace("b_"), {x});
  x = {};
  EXPECT_EQ(tape.Form()->aliases().size(), 1u);
}

TEST(Region, WithoutInPlaceNothingIsDonated) {
  Tape tape;
  tape.Add(Spec("a", 1), {SplatValue()});
  EXPECT_TRUE(tape.Form()->aliases().empty());
}

TEST(Region, ProgramTextHoldsTheCalls) {
  const ValueRef x = SplatValue();
  Tape tape;
  tape.results.reserve(8);
  tape.Add(testing::AddSpec(), {x, x});
  tape.Add(testing::AddSpec(), {tape.results[0], x});
  tape.results[0] = {};
  const auto module = BuildModule(*tape.Form()->BuildSpec());
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->num_results, 1);
  size_t adds = 0;
  for (size_t at = 0; (at = module->text.find("stablehlo.add", at)) != std::string::npos; ++at)
    ++adds;
  EXPECT_EQ(adds, 2u) << module->text;
}

TEST(Region, DescriptionNamesOperatorsAndLines) {
  Tape tape;
  tape.results.reserve(8);
  for (const char* name : {"a", "b", "c"}) tape.Add(Spec(name, 1), {SplatValue()});
  tape.calls[0].python_line = "model.py:12 in forward";
  EXPECT_EQ(tape.Form()->Describe(), "a (recorded at model.py:12 in forward), b and 1 more");
}

}  // namespace
}  // namespace torch_tpu::graph
