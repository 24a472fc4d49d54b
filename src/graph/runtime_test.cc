// Tests of compiling and launching on the fake plugin: donation, asynchrony, failures, memory.
#include "graph/runtime.h"

#include <gtest/gtest.h>

#include "graph/test_runtime.h"
#include "pjrt/test_plugins.h"

namespace torch_tpu::graph {
namespace {

const ops::LoweringEntry& AddLowering() {
  static const ops::LoweringEntry entry = {
      "test::add", [](ops::Call& c) { return ops::Results{c.tensor(0) + c.tensor(1)}; },
      nullptr,     {},
      __FILE__,    __LINE__};
  return entry;
}

TensorSpec Whole(int operand, const Dims& dims) {
  TensorSpec t;
  t.operand = operand;
  t.base = {DType::kF32, dims};
  t.dtype = DType::kF32;
  t.sizes = dims;
  return t;
}

// a + b; `in_place` writes the result into a.
CallSpec AddSpec(const Dims& dims, bool in_place) {
  CallSpec spec;
  spec.name = "test::add";
  spec.key = {in_place ? 1u : 2u, static_cast<uint64_t>(NumElements(dims)), 0};
  spec.operands = {{DType::kF32, dims}, {DType::kF32, dims}};
  SubCall call;
  call.lowering = &AddLowering();
  call.args = {{Whole(0, dims)}, {Whole(1, dims)}};
  OutputSpec o;
  o.type = o.result = {DType::kF32, dims};
  if (in_place) {
    o.kind = OutputSpec::kWrite;
    o.target = Whole(0, dims);
    spec.aliases.emplace_back(0, 0);
  }
  call.outputs = {o};
  call.common = DType::kF32;
  spec.calls = {call};
  return spec;
}

class RuntimeTest : public testing::FakeRuntimeTest {
 protected:
  ValueRef Buffer(const Dims& dims) {
    const std::vector<float> data(NumElements(dims), 1.0f);
    auto v = runtime_->FromHost(data.data(), InternType(DType::kF32, dims), "test");
    EXPECT_TRUE(v.ok());
    return *v;
  }
  Status Launch(const CallSpec& spec, std::span<const OperandRef> operands,
                std::span<const int64_t> keep, std::vector<ValueRef>* results) {
    auto program = runtime_->Compile(spec);
    if (!program.ok()) return program.status();
    return runtime_->Launch(**program, operands, keep, "test::add", work_, results, nullptr);
  }

  pjrt::FakeControls fake_;
  InFlight work_;
};

TEST_F(RuntimeTest, CompilesASignatureOnce) {
  const auto before = Counters::Get().compiles.load();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(runtime_->Compile(AddSpec({5}, false)).ok());
  EXPECT_EQ(Counters::Get().compiles.load() - before, 1);
}

TEST_F(RuntimeTest, DonatesUnlessTold) {
  for (bool keep : {false, true}) {
    ValueRef a = Buffer({4}), b = Buffer({4});
    const OperandRef operands[] = {{a, DType::kInvalid, {}}, {b, DType::kInvalid, {}}};
    const int64_t non_donatable[] = {0};
    std::vector<ValueRef> results;
    ASSERT_TRUE(Launch(AddSpec({4}, true), operands,
                       keep ? std::span<const int64_t>(non_donatable) : std::span<const int64_t>(),
                       &results)
                    .ok());
    EXPECT_EQ(a->buffer().IsDeleted(), !keep);
    EXPECT_FALSE(b->buffer().IsDeleted());
    ASSERT_TRUE(work_.Await().ok());
  }
}

TEST_F(RuntimeTest, ReturnsBeforeTheDeviceIsDone) {
  ValueRef a = Buffer({4}), b = Buffer({4});
  const OperandRef operands[] = {{a, DType::kInvalid, {}}, {b, DType::kInvalid, {}}};
  fake_.set_hold(1);
  std::vector<ValueRef> results;
  ASSERT_TRUE(Launch(AddSpec({4}, false), operands, {}, &results).ok());
  EXPECT_FALSE(work_.IsReady());
  bool called = false;
  work_.OnReady([&] { called = true; });
  EXPECT_FALSE(called);
  fake_.set_hold(0);
  ASSERT_TRUE(work_.Await().ok());
  EXPECT_TRUE(work_.IsReady());
}

TEST_F(RuntimeTest, AsynchronousFailureIsReportedWhereTheResultIsRead) {
  ValueRef a = Buffer({4}), b = Buffer({4});
  const OperandRef operands[] = {{a, DType::kInvalid, {}}, {b, DType::kInvalid, {}}};
  fake_.fail_execution(1, StatusCode::kInternal, "chip on fire");
  std::vector<ValueRef> results;
  ASSERT_TRUE(Launch(AddSpec({4}, false), operands, {}, &results).ok());
  float out[4];
  const Status status = runtime_->ToHost(results[0], out, sizeof out, work_);
  EXPECT_NE(status.message().find("test::add"), std::string::npos) << status.ToString();
  EXPECT_NE(status.message().find("chip on fire"), std::string::npos) << status.ToString();
  EXPECT_FALSE(work_.Await().ok());
  // The next launch works.
  results.clear();
  ASSERT_TRUE(Launch(AddSpec({4}, false), operands, {}, &results).ok());
  EXPECT_TRUE(runtime_->ToHost(results[0], out, sizeof out, work_).ok());
}

TEST_F(RuntimeTest, OutOfMemoryKeepsTheOperands) {
  ValueRef a = Buffer({1024}), b = Buffer({1024});
  const OperandRef operands[] = {{a, DType::kInvalid, {}}, {b, DType::kInvalid, {}}};
  auto program = runtime_->Compile(AddSpec({1024}, false));
  ASSERT_TRUE(program.ok());
  fake_.set_memory_limit(fake_.live_bytes() + 100);
  std::vector<ValueRef> results;
  const Status status = Launch(AddSpec({1024}, false), operands, {}, &results);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(results.empty());
  fake_.set_memory_limit(0);
  EXPECT_TRUE(Launch(AddSpec({1024}, false), operands, {}, &results).ok());
  ASSERT_TRUE(work_.Await().ok());
}

TEST_F(RuntimeTest, NumbersAreMadeOnceAndReused) {
  CallSpec spec = AddSpec({}, false);
  const OperandRef operands[] = {
      {nullptr, DType::kF32, BitsOf(std::complex<double>(0.1, 0), DType::kF32)},
      {nullptr, DType::kF32, BitsOf(std::complex<double>(0.2, 0), DType::kF32)}};
  std::vector<ValueRef> results;
  ASSERT_TRUE(Launch(spec, operands, {}, &results).ok());
  const int64_t made = fake_.call_count("PJRT_Client_BufferFromHostBuffer");
  ASSERT_TRUE(Launch(spec, operands, {}, &results).ok());
  EXPECT_EQ(fake_.call_count("PJRT_Client_BufferFromHostBuffer"), made);
}

}  // namespace
}  // namespace torch_tpu::graph
