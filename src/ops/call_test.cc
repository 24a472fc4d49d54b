// Reading arguments, the registry's rules, and the fitting of results to outputs.
#include "ops/call.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "ops/lower.h"

namespace torch_tpu::ops {
namespace {

const TensorType kF{DType::kF32, {2, 3}};
const TensorType kH{DType::kBF16, {2, 3}};

std::string MessageOf(const std::function<void()>& f) {
  try {
    f();
  } catch (const shlo::BuildError& e) {
    return e.what();
  }
  return "accepted";
}

// A call of "aten::foo" with one argument of each kind, in the order of Argument::v.
struct EveryKind {
  Builder b;
  Call c{b, "aten::foo"};
  Value tensor = b.Argument(kH);
  Value scalar = b.Argument({DType::kF64, {}});

  EveryKind() {
    Number known{DType::kS64, std::complex<double>(3), scalar},
        unknown{DType::kF64, std::nullopt, scalar};
    c.args = {{std::monostate()},
              {tensor},
              {std::vector<Value>{tensor, tensor}},
              {std::vector<std::optional<Value>>{tensor, std::nullopt}},
              {known},
              {std::vector<Number>{known, unknown}},
              {true},
              {int64_t{-7}},
              {Dims{1, -1}},
              {std::vector<bool>{true, false}},
              {std::string("mean")},
              {DType::kS8},
              {unknown}};
  }
};

TEST(CallTest, EachKindReadsBack) {
  EveryKind e;
  const Call& c = e.c;
  EXPECT_EQ(c.size(), 13);
  EXPECT_FALSE(c.has(0));
  EXPECT_TRUE(c.has(1));
  EXPECT_FALSE(c.has(13));
  EXPECT_EQ(c.tensor(1).id(), e.tensor.id());
  EXPECT_EQ(c.tensor(4).id(), e.scalar.id()) << "a number where a Tensor may stand";
  EXPECT_EQ(c.opt_tensor(0), std::nullopt);
  EXPECT_EQ(c.opt_tensor(1)->id(), e.tensor.id());
  EXPECT_EQ(c.tensors(2).size(), 2u);
  EXPECT_EQ(c.opt_tensors(3)[1], std::nullopt);
  EXPECT_EQ(c.opt_tensors(2)[1]->id(), e.tensor.id());
  EXPECT_EQ(c.number(4).id(), e.scalar.id());
  EXPECT_EQ(c.numbers(5).size(), 2u);
  EXPECT_TRUE(c.number_is(4, 3));
  EXPECT_FALSE(c.number_is(4, 2));
  EXPECT_FALSE(c.number_is(12, 3)) << "not known while building";
  EXPECT_FALSE(c.number_is(0, 3)) << "None";
  EXPECT_EQ(c.static_number(4), 3);
  EXPECT_TRUE(c.boolean(6));
  EXPECT_TRUE(c.boolean_or(0, true));
  EXPECT_EQ(c.integer(7), -7);
  EXPECT_EQ(c.integer_or(0, 5), 5);
  EXPECT_EQ(c.integer_or(7, 5), -7);
  EXPECT_EQ(c.ints(8), (Dims{1, -1}));
  EXPECT_EQ(c.ints(7), (Dims{-7})) << "one int";
  EXPECT_EQ(c.opt_ints(0), std::nullopt);
  EXPECT_EQ(c.bools(9), (std::vector<bool>{true, false}));
  EXPECT_EQ(c.string(10), "mean");
  EXPECT_EQ(c.opt_string(0), std::nullopt);
  EXPECT_EQ(c.opt_dtype(11), DType::kS8);
  EXPECT_EQ(c.opt_dtype(13), std::nullopt);
}

TEST(CallTest, WrongKindsAreNamed) {
  EveryKind e;
  const Call& c = e.c;
  EXPECT_EQ(MessageOf([&] { c.integer(2); }),
            "aten::foo: argument 2 is a Tensor[], expected an int");
  EXPECT_EQ(MessageOf([&] { c.tensor(0); }), "aten::foo: argument 0 is None, expected a Tensor");
  EXPECT_EQ(MessageOf([&] { c.tensor(13); }),
            "aten::foo: argument 13 is missing, expected a Tensor");
  EXPECT_EQ(MessageOf([&] { c.tensors(1); }),
            "aten::foo: argument 1 is a Tensor, expected a Tensor[]");
  EXPECT_EQ(MessageOf([&] { c.opt_tensors(1); }),
            "aten::foo: argument 1 is a Tensor, expected a Tensor?[]");
  EXPECT_EQ(MessageOf([&] { c.number(6); }), "aten::foo: argument 6 is a bool, expected a number");
  EXPECT_EQ(MessageOf([&] { c.numbers(4); }),
            "aten::foo: argument 4 is a number, expected a number[]");
  EXPECT_EQ(MessageOf([&] { c.number_is(3, 0); }),
            "aten::foo: argument 3 is a Tensor?[], expected a number");
  EXPECT_EQ(MessageOf([&] { c.boolean(7); }), "aten::foo: argument 7 is an int, expected a bool");
  EXPECT_EQ(MessageOf([&] { c.ints(9); }), "aten::foo: argument 9 is a bool[], expected an int[]");
  EXPECT_EQ(MessageOf([&] { c.bools(8); }), "aten::foo: argument 8 is an int[], expected a bool[]");
  EXPECT_EQ(MessageOf([&] { c.string(11); }), "aten::foo: argument 11 is a dtype, expected a str");
  EXPECT_EQ(MessageOf([&] { c.opt_dtype(10); }),
            "aten::foo: argument 10 is a str, expected a dtype");
  EXPECT_EQ(MessageOf([&] { c.integer(5); }),
            "aten::foo: argument 5 is a number[], expected an int");
  EXPECT_EQ(MessageOf([&] { c.static_number(12); }),
            "aten::foo: argument 12 is not known while the program is built; list it in "
            "static_numbers of LOWER");
}

TEST(CallTest, OperandsAreConvertedToOpmathAndBroadcast) {
  EveryKind e;
  EXPECT_EQ(MessageOf([&] { e.c.operand(1); }),
            "aten::foo: operand() needs an output and a common dtype, and the call has none");
  e.c.outs = {{DType::kBF16, {4, 2, 3}}};
  e.c.common = DType::kBF16;
  EXPECT_EQ(e.c.operand(1).type(), (TensorType{DType::kF32, {4, 2, 3}}));
  EXPECT_EQ(e.c.operand(4).type(), (TensorType{DType::kF32, {4, 2, 3}})) << "numbers too";
  e.c.outs = {{DType::kPred, {7}}};
  EXPECT_EQ(MessageOf([&] { e.c.operand(1); }).substr(0, 13), "broadcast_to:");
}

TEST(CallTest, KnownNumbersWithoutOperandBecomeConstants) {
  Builder b;
  Call c(b, "aten::foo");
  c.args = {{Number{DType::kF64, std::complex<double>(0.5), Value()}}};
  EXPECT_EQ(c.number(0).type(), (TensorType{DType::kF64, {}}));
  EXPECT_EQ(b.SplatConstant(c.number(0)), 0.5);
}

TEST(CallTest, RandomStateIsGivenOnce) {
  Builder b;
  Call c(b, "aten::foo");
  EXPECT_EQ(MessageOf([&] { c.rng_state(); }),
            "aten::foo: draws random bits but is not registered with {.random = true}");
  c.rng = b.Argument({DType::kU64, {2}});
  EXPECT_EQ(c.rng_state().id(), c.rng->id());
  EXPECT_TRUE(c.used_rng);
  EXPECT_EQ(MessageOf([&] { c.rng_state(); }),
            "aten::foo: asked twice for the random state of one call");
}

TEST(CallTest, ChecksAreOnlyKeptInDebugMode) {
  Builder b;
  Call c(b, "aten::foo");
  Value ok = b.Argument({DType::kPred, {2, 2}});
  c.check_index(ok, "index out of range");
  EXPECT_TRUE(c.checks.empty());
  c.debug_mode = true;
  c.check_index(ok, "index out of range");
  c.check(ok, "bad values");
  ASSERT_EQ(c.checks.size(), 2u);
  EXPECT_EQ(c.checks[0].ok.type(), (TensorType{DType::kPred, {}}));
  EXPECT_TRUE(c.checks[0].index_error);
  EXPECT_FALSE(c.checks[1].index_error);
  EXPECT_EQ(c.checks[1].message, "bad values");
}

// --- registry -----------------------------------------------------------------------------------

Value First(Call& c) { return c.tensor(0); }
Value Negated(Call& c) { return shlo::negate(c.tensor(0)); }
Results Two(Call& c) { return {c.tensor(0), Value()}; }

LOWER("test::base", First);
LOWER("test::base.special", Negated, {.static_numbers = {1}, .random = true});
LOWER("test::only.overload", Two);

TEST(RegistryTest, AnExactNameWinsOverTheBaseName) {
  ASSERT_NE(FindLowering("test::base"), nullptr);
  EXPECT_EQ(FindLowering("test::base")->name, "test::base");
  EXPECT_EQ(FindLowering("test::base.other")->name, "test::base");
  EXPECT_EQ(FindLowering("test::base.special")->name, "test::base.special");
  EXPECT_EQ(FindLowering("test::only.overload")->name, "test::only.overload");
  EXPECT_EQ(FindLowering("test::only"), nullptr);
  EXPECT_EQ(FindLowering("test::only.other"), nullptr);
  EXPECT_EQ(FindLowering("test::bas"), nullptr);
}

TEST(RegistryTest, EntriesKeepOptionsAndPlace) {
  const LoweringEntry* e = FindLowering("test::base.special");
  EXPECT_EQ(e->fn, nullptr);
  EXPECT_EQ(e->value_fn, &Negated);
  EXPECT_EQ(e->options.static_numbers, (std::vector<int>{1}));
  EXPECT_TRUE(e->options.random);
  EXPECT_EQ(std::string(e->file).substr(std::string(e->file).size() - 12), "call_test.cc");
  EXPECT_GT(e->line, 0);
  EXPECT_EQ(FindLowering("test::only.overload")->fn, &Two);
}

TEST(RegistryTest, AllLoweringsAreSortedAndWellNamed) {
  std::string previous;
  for (const LoweringEntry* e : AllLowerings()) {
    EXPECT_LT(previous, e->name);
    previous = e->name;
    EXPECT_NE(e->name.find("::"), std::string::npos) << e->name;
    EXPECT_NE(e->fn == nullptr, e->value_fn == nullptr) << e->name;
  }
}

TEST(RegistryTest, NoOperatorIsRegisteredTwiceAndASecondRegistrationIsReported) {
  ASSERT_EQ(DuplicateLowerings(), std::vector<std::string>());
  Registrar again("test::base", Negated, "b.cc", 7);
  ASSERT_EQ(DuplicateLowerings().size(), 1u);
  const std::string text = DuplicateLowerings()[0];
  EXPECT_EQ(text.substr(0, 14), "test::base at ");
  EXPECT_NE(text.find("call_test.cc:"), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 11), " and b.cc:7");
  EXPECT_EQ(FindLowering("test::base")->value_fn, &First) << "the first one counts";
}

// --- running a lowering -------------------------------------------------------------------------

// Runs `entry` on one bf16[2, 3] argument for the given outputs.
Result<Results> RunOn(const LoweringEntry& entry, Builder& b, std::vector<TensorType> outs) {
  Call c(b, "aten::foo.Tensor");
  c.args = {{b.Argument(kH)}};
  c.outs = std::move(outs);
  return RunLowering(entry, c);
}

LoweringEntry Entry(Lowering fn) { return {"aten::foo", fn, nullptr, {}, "", 0}; }

TEST(RunLoweringTest, ResultsAreConvertedAndBroadcastAndLocated) {
  Builder b;
  auto results = RunOn(Entry([](Call& c) { return Results{shlo::negate(c.tensor(0))}; }), b,
                       {{DType::kF32, {5, 2, 3}}});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ((*results)[0].type(), (TensorType{DType::kF32, {5, 2, 3}}));
  const std::string text = b.Finish(*results);
  EXPECT_NE(text.find("\"stablehlo.negate\"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16> "
                      "loc(\"aten::foo.Tensor\")"),
            std::string::npos)
      << text;
}

TEST(RunLoweringTest, ValueFunctionsAndEmptyResults) {
  Builder b;
  auto one = RunOn({"aten::foo", nullptr, First, {}, "", 0}, b, {kH});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ((*one)[0].type(), kH);
  auto two = RunOn(Entry(Two), b, {kH, {}});
  ASSERT_TRUE(two.ok());
  EXPECT_TRUE((*two)[1].empty());
}

TEST(RunLoweringTest, MisfitsAndExceptionsBecomeStatus) {
  struct Case {
    Lowering fn;
    std::vector<TensorType> outs;
    std::string expected;
  };
  const Case kCases[] = {
      {[](Call& c) { return Results{c.tensor(0)}; },
       {{DType::kF32, {3, 3}}},
       "INVALID_ARGUMENT: aten::foo.Tensor: output 0 must be tensor<3x3xf32>, the lowering gave "
       "tensor<2x3xbf16>"},
      {[](Call& c) { return Results{c.tensor(0)}; },
       {kH, kH},
       "INVALID_ARGUMENT: aten::foo.Tensor: the lowering gave 1 outputs, expected 2"},
      {[](Call& c) { return Results{c.tensor(0) & c.tensor(0)}; },
       {kH},
       "INVALID_ARGUMENT: aten::foo.Tensor: stablehlo.and: operands must be bool or integer, got "
       "tensor<2x3xbf16>"},
      {[](Call& c) { return Results{c.tensor(1)}; },
       {kH},
       "INVALID_ARGUMENT: aten::foo.Tensor: argument 1 is missing, expected a Tensor"},
      {[](Call&) -> Results { throw std::out_of_range("vector"); },
       {kH},
       "INTERNAL: aten::foo.Tensor: vector"},
  };
  for (const Case& c : kCases) {
    Builder b;
    auto results = RunOn(Entry(c.fn), b, c.outs);
    ASSERT_FALSE(results.ok());
    EXPECT_EQ(results.status().ToString(), c.expected);
  }
}

}  // namespace
}  // namespace torch_tpu::ops
