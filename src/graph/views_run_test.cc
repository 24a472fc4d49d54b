// Random views read and written on the plugin, compared with direct strided access in memory.
#include <gtest/gtest.h>

#include <cstring>

#include "graph/program_runner_test.h"
#include "views/random_view_test_util.h"
#include "views/view.h"

namespace torch_tpu::graph {
namespace {

using shlo::Builder;
using shlo::TensorType;
using shlo::Value;
using views::Base;
using views::MakePlan;
using views::Plan;
using views::View;
using views::testing::Array;
using views::testing::RandomViews;

// Bytes travel as ui8, so that every dtype and every bit pattern can go in and out.
TestTensor Bytes(const Array& array) {
  TestTensor tensor{{DType::kU8, {static_cast<int64_t>(array.bytes.size())}}, {}};
  for (uint8_t byte : array.bytes) tensor.values.push_back(byte);
  return tensor;
}

Value FromBytes(Value bytes, const TensorType& type) {
  if (type.dtype == DType::kPred) {
    bytes = shlo::reshape(bytes, type.dims);
    return shlo::compare(bytes, shlo::full_like(bytes, 0), shlo::Direction::kNe);
  }
  Dims dims = type.dims;
  if (IsComplex(type.dtype)) dims.push_back(2);
  const DType real = RealType(type.dtype);
  if (DTypeSize(real) > 1) dims.push_back(DTypeSize(real));
  const Value v = shlo::bitcast_convert(shlo::reshape(bytes, dims), real);
  if (!IsComplex(type.dtype)) return v;
  const int64_t last = v.rank() - 1;
  return shlo::complex(shlo::squeeze(shlo::slice_dim(v, last, 0, 1), last),
                       shlo::squeeze(shlo::slice_dim(v, last, 1, 2), last));
}

Value ToBytes(Value v) {
  const int64_t bytes = NumElements(v.dims()) * DTypeSize(v.dtype());
  if (v.dtype() == DType::kPred) return shlo::reshape(shlo::convert(v, DType::kU8), {bytes});
  if (IsComplex(v.dtype())) {
    const Value parts[] = {shlo::unsqueeze(shlo::real(v), -1), shlo::unsqueeze(shlo::imag(v), -1)};
    v = shlo::concatenate(parts, v.rank());
  }
  // The barrier keeps this conversion apart from those of the view (see views/emit.cc).
  v = shlo::optimization_barrier(v);
  return shlo::reshape(shlo::bitcast_convert(v, DType::kU8), {bytes});
}

struct Case {
  Plan plan;
  bool operands;  // starts are arguments
  Array base;
  Array update;

  bool Writable() const {
    return !plan.overlapping || plan.steps.back().kind == views::Step::kGather;
  }

  std::string ToString() const {
    return "base " + plan.base.ToString() + " view " +
           TensorType{plan.view.dtype, plan.view.sizes}.ToString() + " strides " +
           DimsToString(plan.view.strides) + " offset " + std::to_string(plan.view.offset) +
           (operands ? " operands: " : " constants: ") + plan.ToString();
  }
};

void ExpectBytes(const TestTensor& got, const Array& want, const Case& c, const char* what) {
  ASSERT_EQ(got.values.size(), want.bytes.size()) << what << ' ' << c.ToString();
  for (size_t i = 0; i < want.bytes.size(); ++i) {
    ASSERT_EQ(got.values[i], want.bytes[i]) << what << " byte " << i << ' ' << c.ToString();
  }
}

// No byte makes a NaN as part of any float dtype: the CPU plugin selects bfloat16 as float32, which
// turns signalling NaNs into quiet ones.
Array RandomNumbers(RandomViews* random, const TensorType& type) {
  Array array = random->RandomArray(type.dtype, type.dims);
  for (uint8_t& byte : array.bytes) byte &= 0xBF;
  return array;
}

// One program for all cases: compiling is most of the cost.
void CheckTogether(const std::vector<Case>& cases) {
  std::vector<TestTensor> inputs;
  for (const Case& c : cases) {
    inputs.push_back(Bytes(c.base));
    inputs.push_back(Bytes(c.update));
    if (!c.operands) continue;
    for (int64_t start : c.plan.starts) {
      inputs.push_back({{DType::kS64, {}}, {static_cast<double>(start)}});
    }
  }
  const auto results = RunProgram(inputs, [&](Builder&, std::span<const Value> arguments) {
    std::vector<Value> out;
    size_t next = 0;
    for (const Case& c : cases) {
      const Value base = FromBytes(arguments[next], c.plan.base);
      const Value update = FromBytes(arguments[next + 1], {c.plan.view.dtype, c.plan.view.sizes});
      next += 2;
      const auto starts = arguments.subspan(next, c.operands ? c.plan.starts.size() : 0);
      next += starts.size();
      out.push_back(ToBytes(EmitRead(c.plan, base, starts)));
      if (c.Writable()) out.push_back(ToBytes(EmitWrite(c.plan, base, update, starts)));
    }
    return out;
  });
  size_t next = 0;
  for (const Case& c : cases) {
    ExpectBytes(results[next++], views::testing::DirectRead(c.base, c.plan.view), c, "read");
    if (!c.Writable()) continue;
    ExpectBytes(results[next++], views::testing::DirectWrite(c.base, c.plan.view, c.update), c,
                "write");
  }
}

TEST(ViewsRunTest, RandomViewsOnThePlugin) {
  RandomViews random(4);
  int gathers = 0;
  int scatters = 0;
  for (int program = 0; program < 6; ++program) {
    std::vector<Case> cases;
    while (cases.size() < 28) {
      const Base base = random.RandomBase();
      const View view = random.RandomView(base);
      Plan plan = MakePlan(base, view).value();
      bool gather = false;
      for (const views::Step& step : plan.steps) gather |= step.kind == views::Step::kGather;
      // Most random chains are short; keep the program for the views that do something.
      if (plan.steps.size() < 2 && random.Below(4) != 0) continue;
      gathers += gather;
      scatters += gather && !plan.overlapping;
      const bool operands = plan.dynamic && random.Below(4) != 0;
      Array data = RandomNumbers(&random, base);
      Array update = RandomNumbers(&random, {view.dtype, view.sizes});
      // Which of two updates of one element wins is open, so they are equal.
      if (plan.overlapping) std::fill(update.bytes.begin(), update.bytes.end(), 1);
      cases.push_back({std::move(plan), operands, std::move(data), std::move(update)});
    }
    CheckTogether(cases);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(gathers, 5);
  EXPECT_GT(scatters, 0);
}

TEST(ViewsRunTest, ComplexPartsInOrder) {
  const Base base = {DType::kC64, {2}};
  const TestTensor z{base, {1, 2, 3, 4}};  // 1+2i, 3+4i
  const Plan imag = MakePlan(base, {DType::kF32, {2}, {2}, 1}).value();
  const auto results = RunProgram({z, Vector({20, 40})}, [&](Builder&, auto a) {
    return std::vector<Value>{EmitRead(imag, a[0], {}), EmitWrite(imag, a[0], a[1], {})};
  });
  EXPECT_EQ(results[0].values, (std::vector<double>{2, 4}));
  EXPECT_EQ(results[1].values, (std::vector<double>{1, 20, 3, 40}));
}

TEST(ViewsRunTest, OneProgramServesEveryRow) {
  const Base base = {DType::kF32, {3, 2}};
  const Plan first = MakePlan(base, {DType::kF32, {2}, {1}, 0}).value();
  const TestTensor x{base, {0, 1, 2, 3, 4, 5}};
  for (int64_t row = 0; row < 3; ++row) {
    std::vector<int64_t> starts;
    ASSERT_TRUE(views::SplitOffset(base, {DType::kF32, {2}, {1}, 2 * row}, &starts));
    ASSERT_EQ(starts.size(), 1u);
    const TestTensor start{{DType::kS64, {}}, {static_cast<double>(starts[0])}};
    const auto results = RunProgram({x, start}, [&](Builder&, auto a) {
      return std::vector<Value>{EmitRead(first, a[0], a.subspan(1))};
    });
    EXPECT_EQ(results[0].values, (std::vector<double>{2.0 * row, 2.0 * row + 1}));
  }
}

}  // namespace
}  // namespace torch_tpu::graph
