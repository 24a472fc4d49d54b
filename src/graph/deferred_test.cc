// Tests of the recorder on the fake plugin: when calls are sent, and when not.
#include "graph/deferred.h"

#include <gtest/gtest.h>

#include <thread>

#include "graph/sender.h"
#include "graph/test_calls.h"
#include "graph/test_runtime.h"
#include "pjrt/test_plugins.h"

namespace torch_tpu::graph {
namespace {

using testing::AddSpec;
using testing::Operand;

class RecorderTest : public testing::FakeRuntimeTest {
 protected:
  void SetUp() override {
    FakeRuntimeTest::SetUp();
    if (HasFatalFailure()) return;
    recorder_.TakeKeys();
  }
  void TearDown() override { (void)recorder_.Drain(); }

  ValueRef Buffer() {
    const float data[4] = {1, 1, 1, 1};
    auto v = runtime_->FromHost(data, testing::Type(), "test");
    EXPECT_TRUE(v.ok());
    return *v;
  }
  ValueRef Append(const std::shared_ptr<const CallSpec>& spec, const ValueRef& a,
                  const ValueRef& b) {
    std::vector<ValueRef> results;
    const Status status =
        recorder_.Append(spec, {Operand(a), Operand(b)}, "", in_flight_, &results);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(results.size(), 1u);
    return results[0];
  }
  static int64_t Launches() { return Counters::Get().launches.load(); }

  Recorder& recorder_ = Recorder::Get();
  pjrt::FakeControls fake_;
  InFlight in_flight_;
};

TEST_F(RecorderTest, NothingIsSentUntilSomebodyAsks) {
  const int64_t before = Launches();
  ValueRef x = Buffer();
  ValueRef y = Append(AddSpec(), x, x);
  ValueRef z = Append(AddSpec(), y, x);
  EXPECT_EQ(z->state(), Value::State::kDeferred);
  EXPECT_EQ(Launches(), before);
  ASSERT_TRUE(recorder_.Require(*z).ok());
  EXPECT_EQ(z->state(), Value::State::kBuffer);
  EXPECT_EQ(y->state(), Value::State::kBuffer);
  EXPECT_EQ(Launches() - before, 1);
  EXPECT_EQ(recorder_.TakeKeys().size(), 1u);
}

TEST_F(RecorderTest, WhatNobodyHoldsIsNotSent) {
  const int64_t before = Launches();
  ValueRef x = Buffer();
  Append(AddSpec(), x, x);
  ASSERT_TRUE(recorder_.Drain().ok());
  EXPECT_EQ(Launches(), before);
  EXPECT_TRUE(recorder_.TakeKeys().empty());
  EXPECT_EQ(x->use_count(), 1);  // the dead call let go
}

TEST_F(RecorderTest, OneSequenceGivesOneListOfKeys) {
  ValueRef x = Buffer();
  std::vector<cache::Key> keys[2];
  for (auto& list : keys) {
    ValueRef y = x;
    for (int i = 0; i < 60; ++i) y = Append(AddSpec(i % 10 == 0 ? "a" : "b"), y, x);
    ASSERT_TRUE(recorder_.Require(*y).ok());
    list = recorder_.TakeKeys();
  }
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_GE(keys[0].size(), 2u);
}

TEST_F(RecorderTest, RepeatedBlocksAreSentBeforeAnybodyAsksAndCompileOnce) {
  const int64_t compiles = Counters::Get().compiles.load();
  const int64_t launches = Launches();
  ValueRef x = Buffer();
  ValueRef y = x;
  for (int block = 0; block < 10; ++block) {
    for (int i = 0; i < 15; ++i) y = Append(AddSpec("op" + std::to_string(i)), y, x);
  }
  EXPECT_EQ(y->state(), Value::State::kDeferred);
  ASSERT_TRUE(Sender::Get().Drain().ok());
  EXPECT_EQ(Launches() - launches, 9);  // not the last, whose successor is not complete
  // The first call reads what was there before: it is a prologue, and the block begins after it.
  EXPECT_EQ(Counters::Get().compiles.load() - compiles, 2);
  ASSERT_TRUE(recorder_.Require(*y).ok());
  EXPECT_EQ(Launches() - launches, 10);
}

TEST_F(RecorderTest, ManyCallsAreSentUnasked) {
  ValueRef x = Buffer();
  std::vector<ValueRef> held;
  for (int i = 0; i < 1024; ++i) {
    EXPECT_TRUE(recorder_.TakeKeys().empty()) << "after " << i;
    held.push_back(Append(AddSpec("unlike " + std::to_string(i)), x, x));
  }
  EXPECT_EQ(recorder_.TakeKeys().size(), 1u);
  EXPECT_TRUE(Sender::Get().Drain().ok());
}

TEST_F(RecorderTest, MuchMemoryIsSentUnaskedIfItIsLive) {
  constexpr int64_t kQuarter = 64 << 20;             // floats: 256 MiB
  const auto large = testing::Unbuildable("large");  // no memory is taken in truth
  large->result_types = {InternType(DType::kF32, {kQuarter})};
  ValueRef x = Buffer();
  for (int i = 0; i < 7; ++i) Append(large, x, x);  // dead ones do not count
  EXPECT_TRUE(recorder_.TakeKeys().empty());
  std::vector<ValueRef> held;
  for (int i = 0; i < 5; ++i) held.push_back(Append(large, x, x));
  EXPECT_EQ(recorder_.TakeKeys().size(), 1u);
}

TEST_F(RecorderTest, AnotherStreamsCallsAreSentBefore) {
  ValueRef x = Buffer();
  ValueRef y = Append(AddSpec(), x, x);
  InFlight other;
  std::vector<ValueRef> results;
  ASSERT_TRUE(recorder_.Append(AddSpec(), {Operand(y), Operand(x)}, "", other, &results).ok());
  EXPECT_EQ(recorder_.TakeKeys().size(), 1u);
  ASSERT_TRUE(recorder_.Drain().ok());
  EXPECT_EQ(results[0]->state(), Value::State::kBuffer);
  ASSERT_TRUE(other.Await().ok());
}

TEST_F(RecorderTest, AnOperandThatFailedFailsTheCall) {
  const ValueRef bad = Value::Error(testing::Type(), Internal("broken before"));
  std::vector<ValueRef> results;
  const Status status =
      recorder_.Append(AddSpec(), {Operand(bad), Operand(bad)}, "", in_flight_, &results);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("broken before"), std::string::npos);
  EXPECT_TRUE(results.empty());
}

TEST_F(RecorderTest, ManyThreadsRecordAndRequire) {
  ValueRef x = Buffer();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        ValueRef y = x;
        for (int i = 0; i < 10 + t; ++i) {
          std::vector<ValueRef> results;
          if (!recorder_.Append(AddSpec(), {Operand(y), Operand(x)}, "", in_flight_, &results).ok())
            ++wrong;
          y = results.at(0);
        }
        if (!recorder_.Require(*y).ok() || y->state() != Value::State::kBuffer) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace torch_tpu::graph
