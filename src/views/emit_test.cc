// The operations that plans become, and what EmitRead and EmitWrite refuse. Values are compared in
// graph/views_run_test.cc.
#include <gtest/gtest.h>

#include <sstream>

#include "views/view.h"

namespace torch_tpu::views {
namespace {

using shlo::Builder;
using shlo::BuildError;
using shlo::Value;

std::vector<Value> StartArguments(Builder& b, const Plan& plan) {
  std::vector<Value> starts;
  for (size_t i = 0; i < plan.starts.size(); ++i) starts.push_back(b.Argument({DType::kS64, {}}));
  return starts;
}

// Names of the operations in the text of a module, in order, without constants.
std::string Ops(const std::string& text) {
  std::string ops;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("\"stablehlo.");
    if (at == std::string::npos) continue;
    const size_t begin = at + 11;
    const std::string op = line.substr(begin, line.find('"', begin) - begin);
    if (op == "constant") continue;
    if (!ops.empty()) ops += ' ';
    ops += op;
  }
  return ops;
}

std::string ReadText(const Base& base, const View& view, bool operands = true) {
  const Plan plan = MakePlan(base, view).value();
  Builder b;
  const Value x = b.Argument(base);
  std::vector<Value> starts;
  if (operands && plan.dynamic) starts = StartArguments(b, plan);
  const Value results[] = {EmitRead(plan, x, starts)};
  EXPECT_EQ(results[0].type(), (shlo::TensorType{view.dtype, view.sizes}));
  return b.Finish(results);
}

std::string WriteText(const Base& base, const View& view, bool operands = true) {
  const Plan plan = MakePlan(base, view).value();
  Builder b;
  const Value x = b.Argument(base);
  const Value update = b.Argument({view.dtype, view.sizes});
  std::vector<Value> starts;
  if (operands && plan.dynamic) starts = StartArguments(b, plan);
  const Value results[] = {EmitWrite(plan, x, update, starts)};
  EXPECT_EQ(results[0].type(), base);
  return b.Finish(results);
}

const Base kMatrix = {DType::kF32, {4, 6}};
const View kWhole = {DType::kF32, {24}, {1}, 0};
const View kTransposed = {DType::kF32, {6, 4}, {1, 6}, 0};
const View kColumnsTransposed = {DType::kF32, {2, 4}, {1, 6}, 1};
const View kEverySecond = {DType::kF32, {4, 3}, {6, 2}, 0};
const View kWrapping = {DType::kF32, {5}, {1}, 4};
const View kInterleaved = {DType::kF32, {3, 2}, {3, 4}, 0};
const View kOverlapping = {DType::kF32, {4, 3}, {2, 1}, 0};

TEST(EmitTest, Reads) {
  EXPECT_EQ(Ops(ReadText({DType::kF32, {24}}, kWhole)), "");
  EXPECT_EQ(Ops(ReadText(kMatrix, kWhole)), "reshape");
  EXPECT_EQ(Ops(ReadText(kMatrix, kTransposed)), "transpose");
  EXPECT_EQ(Ops(ReadText(kMatrix, kColumnsTransposed)), "dynamic_slice transpose");
  EXPECT_EQ(Ops(ReadText(kMatrix, kEverySecond)), "dynamic_slice slice");
  EXPECT_EQ(Ops(ReadText(kMatrix, kWrapping)), "reshape dynamic_slice");
  EXPECT_EQ(Ops(ReadText(kMatrix, {DType::kF32, {3, 4}, {0, 6}, 0})),
            "dynamic_slice reshape broadcast_in_dim");
  EXPECT_EQ(Ops(ReadText({DType::kF32, {24}}, kOverlapping)),
            "convert broadcast_in_dim iota multiply add gather");
  EXPECT_EQ(Ops(ReadText({DType::kPred, {4}}, {DType::kU8, {4}, {1}, 0})), "convert");
  EXPECT_EQ(Ops(ReadText({DType::kU8, {4}}, {DType::kPred, {4}, {1}, 0})), "compare");
}

TEST(EmitTest, Writes) {
  EXPECT_EQ(Ops(WriteText(kMatrix, kWhole)), "reshape");
  EXPECT_EQ(Ops(WriteText(kMatrix, kTransposed)), "transpose");
  EXPECT_EQ(Ops(WriteText(kMatrix, kColumnsTransposed)), "transpose dynamic_update_slice");
  EXPECT_EQ(Ops(WriteText(kMatrix, kEverySecond)),
            "dynamic_slice pad pad select dynamic_update_slice");
  EXPECT_EQ(Ops(WriteText(kMatrix, kWrapping)), "reshape dynamic_update_slice reshape");
  EXPECT_EQ(Ops(WriteText({DType::kF32, {12}}, kInterleaved)),
            "convert broadcast_in_dim iota multiply add iota multiply add scatter return");
  EXPECT_EQ(Ops(WriteText({DType::kU8, {4}}, {DType::kPred, {2}, {1}, 1})),
            "convert dynamic_update_slice");
}

TEST(EmitTest, ScattersSayWhetherTheyOverlap) {
  EXPECT_NE(WriteText({DType::kF32, {12}}, kInterleaved).find("unique_indices = true"),
            std::string::npos);
  EXPECT_NE(WriteText(kMatrix, kOverlapping).find("unique_indices = false"), std::string::npos);
}

TEST(EmitTest, ABarrierStandsBeforeWidthChanges) {
  const Base bytes = {DType::kU8, {8}};
  EXPECT_EQ(Ops(ReadText(bytes, {DType::kF32, {2}, {1}, 0})),
            "reshape optimization_barrier bitcast_convert");
  EXPECT_EQ(Ops(ReadText(bytes, {DType::kS8, {8}, {1}, 0})), "bitcast_convert");
}

TEST(EmitTest, StartsAreOperandsOrConstants) {
  const std::string operands = ReadText(kMatrix, kColumnsTransposed);
  EXPECT_NE(operands.find("\"stablehlo.dynamic_slice\"(%arg0, %0, %arg1)"), std::string::npos)
      << operands;
  const std::string constants = ReadText(kMatrix, kColumnsTransposed, /*operands=*/false);
  EXPECT_EQ(Ops(constants), "slice transpose");
  EXPECT_NE(constants.find("start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 3>"),
            std::string::npos)
      << constants;
}

TEST(EmitTest, OneProgramForTwoOffsets) {
  View view = kColumnsTransposed;
  const std::string first = ReadText(kMatrix, view);
  view.offset = 4;
  EXPECT_EQ(ReadText(kMatrix, view), first);
}

TEST(EmitTest, WritingNothingGivesTheBase) {
  EXPECT_EQ(Ops(WriteText(kMatrix, {DType::kF32, {0, 3}, {3, 1}, 24})), "");
}

TEST(EmitTest, IndicesAre64BitOnlyForHugeBases) {
  const int64_t huge = int64_t{1} << 31;
  const View view = {DType::kS8, {3, 2}, {3, 4}, 0};
  EXPECT_EQ(ReadText({DType::kS8, {huge - 1}}, view).find("tensor<3x2xi64>"), std::string::npos);
  EXPECT_NE(ReadText({DType::kS8, {huge}}, view).find("tensor<3x2xi64>"), std::string::npos);
}

// What `f` throws.
template <typename F>
std::string Message(F f) {
  try {
    f();
  } catch (const BuildError& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(EmitTest, Refusals) {
  Builder b;
  const Value x = b.Argument(kMatrix);
  const Value flat = b.Argument({DType::kF32, {24}});
  const Value two = b.Argument({DType::kF32, {2}});
  const Value start = b.Argument({DType::kS64, {}});
  const Value two_starts[] = {start, start};

  const Plan columns = MakePlan(kMatrix, kColumnsTransposed).value();
  EXPECT_EQ(Message([&] { EmitRead(columns, flat, {}); }),
            "view: expected a base of tensor<4x6xf32>, got tensor<24xf32>");
  EXPECT_EQ(Message([&] { EmitRead(columns, x, two_starts); }),
            "view: expected 1 start operands, got 2");
  const View whole = {DType::kF32, {24}, {1}, 0};
  EXPECT_EQ(Message([&] { EmitRead(MakePlan(kMatrix, whole).value(), x, two_starts); }),
            "view: expected 0 start operands, got 2");
  EXPECT_EQ(Message([&] { EmitWrite(columns, x, two, {}); }),
            "view: expected an update of tensor<2x4xf32>, got tensor<2xf32>");

  const Plan expanded = MakePlan({DType::kF32, {24}}, {DType::kF32, {2}, {0}, 0}).value();
  EXPECT_EQ(Message([&] { EmitWrite(expanded, flat, two, {}); }),
            "view: sizes [2] with strides [0] reach an element more than once; clone the tensor "
            "before writing to it");
}

}  // namespace
}  // namespace torch_tpu::views
