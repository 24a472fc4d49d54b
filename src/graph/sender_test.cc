// Tests of compiling and launching regions on the fake plugin: sharing, order, failures.
#include "graph/sender.h"

#include <gtest/gtest.h>

#include "graph/deferred.h"
#include "graph/test_calls.h"
#include "graph/test_runtime.h"
#include "pjrt/test_plugins.h"

namespace torch_tpu::graph {
namespace {

using testing::AddSpec;
using testing::Operand;
using testing::Unbuildable;

class SenderTest : public testing::FakeRuntimeTest {
 protected:
  void SetUp() override {
    FakeRuntimeTest::SetUp();
    if (HasFatalFailure()) return;
    const float data[4] = {1, 1, 1, 1};
    auto v = runtime_->FromHost(data, testing::Type(), "test");
    ASSERT_TRUE(v.ok());
    x_ = *v;
  }
  void TearDown() override {
    fake_.set_hold(0);
    (void)recorder_.Drain();
  }

  ValueRef Append(const std::shared_ptr<const CallSpec>& spec, const ValueRef& a, const ValueRef& b,
                  const std::string& line = "") {
    std::vector<ValueRef> results;
    EXPECT_TRUE(recorder_.Append(spec, {Operand(a), Operand(b)}, line, in_flight_, &results).ok());
    return results.at(0);
  }
  static int64_t Compiles() { return Counters::Get().compiles.load(); }

  Recorder& recorder_ = Recorder::Get();
  pjrt::FakeControls fake_;
  InFlight in_flight_;
  ValueRef x_;
};

TEST_F(SenderTest, RegionsThatWaitForOneAnotherAreAllComputed) {
  ValueRef y = x_;
  for (int i = 0; i < 8; ++i) {
    y = Append(AddSpec("chain" + std::to_string(i)), y, x_);
    recorder_.Send();  // a region each
  }
  ASSERT_TRUE(recorder_.Require(*y).ok());
  EXPECT_EQ(y->state(), Value::State::kBuffer);
  ASSERT_TRUE(in_flight_.Await().ok());
}

TEST_F(SenderTest, EqualRegionsCompileOnce) {
  const int64_t before = Compiles();
  std::vector<ValueRef> held;
  for (int i = 0; i < 6; ++i) {
    held.push_back(Append(AddSpec("equal"), x_, x_));
    recorder_.Send();
  }
  ASSERT_TRUE(recorder_.Drain().ok());
  EXPECT_EQ(Compiles() - before, 1);
  for (const ValueRef& v : held) EXPECT_EQ(v->state(), Value::State::kBuffer);
}

TEST_F(SenderTest, LaunchesDoNotWaitForTheDevice) {
  ASSERT_TRUE(recorder_.Require(*Append(AddSpec("slow"), x_, x_)).ok());
  fake_.set_hold(1);
  const ValueRef y = Append(AddSpec("slow"), x_, x_);
  ASSERT_TRUE(recorder_.Require(*y).ok());
  EXPECT_EQ(y->state(), Value::State::kBuffer);
  EXPECT_FALSE(in_flight_.IsReady());
  fake_.set_hold(0);
  EXPECT_TRUE(in_flight_.Await().ok());
}

TEST_F(SenderTest, WhatCannotBeBuiltIsNamedAndTheRestIsComputed) {
  const ValueRef good = Append(AddSpec(), x_, x_);
  const ValueRef bad = Append(Unbuildable("test::bad"), good, x_, "model.py:3 in f");
  const ValueRef after_bad = Append(AddSpec(), bad, x_);
  const ValueRef other = Append(AddSpec(), good, good);
  const Status status = recorder_.Require(*after_bad);
  EXPECT_NE(status.message().find("test::bad (recorded at model.py:3 in f)"), std::string::npos)
      << status.ToString();
  EXPECT_NE(status.message().find("cannot be lowered"), std::string::npos) << status.ToString();
  EXPECT_EQ(bad->state(), Value::State::kError);
  EXPECT_EQ(good->state(), Value::State::kBuffer);
  EXPECT_EQ(other->state(), Value::State::kBuffer);
  EXPECT_TRUE(recorder_.Drain().ok());  // it was told
}

TEST_F(SenderTest, AFailureThatNobodyReadIsToldByDrainOnce) {
  const ValueRef bad = Append(Unbuildable("test::unread"), x_, x_);
  const Status status = recorder_.Drain();
  EXPECT_NE(status.message().find("test::unread"), std::string::npos) << status.ToString();
  EXPECT_TRUE(recorder_.Drain().ok());
}

TEST_F(SenderTest, ALaterRegionOfAFailedOperandFailsAlike) {
  const ValueRef bad = Append(Unbuildable("test::first"), x_, x_);
  recorder_.Send();
  std::vector<ValueRef> results;
  const Status recorded =
      recorder_.Append(AddSpec(), {Operand(bad), Operand(x_)}, "", in_flight_, &results);
  // Either it is known already, or it is told where the result is asked for.
  const Status status = recorded.ok() ? recorder_.Require(*results.at(0)) : recorded;
  EXPECT_NE(status.message().find("test::first"), std::string::npos) << status.ToString();
}

TEST_F(SenderTest, OutOfMemoryAtTheLaunchNamesOperators) {
  const ValueRef warm = Append(AddSpec("test::big"), x_, x_);
  ASSERT_TRUE(recorder_.Require(*warm).ok());
  const ValueRef y = Append(AddSpec("test::big"), x_, x_);
  fake_.set_memory_limit(fake_.live_bytes() + 1);
  const Status status = recorder_.Require(*y);
  fake_.set_memory_limit(0);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.ToString();
  EXPECT_NE(status.message().find("test::big"), std::string::npos) << status.ToString();
  EXPECT_EQ(x_->state(), Value::State::kBuffer);
  ASSERT_TRUE(recorder_.Require(*Append(AddSpec("test::big"), x_, x_)).ok());
}

TEST_F(SenderTest, DonationReusesTheBuffer) {
  ValueRef base = Append(AddSpec(), x_, x_);
  ASSERT_TRUE(recorder_.Require(*base).ok());
  auto in_place = AddSpec("test::add_");
  in_place->key.structure += 1;
  in_place->aliases = {{0, 0}};
  const ValueRef kept = Append(in_place, base, x_);
  ASSERT_TRUE(recorder_.Require(*kept).ok());
  EXPECT_FALSE(base->buffer().IsDeleted());  // held here
  const Value* raw = base.get();
  ValueRef next = Append(in_place, kept, x_);
  ASSERT_TRUE(recorder_.Require(*next).ok());
  EXPECT_FALSE(raw->buffer().IsDeleted());
  // Nobody else holds `next` while it is updated: its buffer goes to the result.
  const int64_t before = fake_.live_bytes();
  ValueRef last = Append(in_place, next, x_);
  next = {};
  ASSERT_TRUE(recorder_.Require(*last).ok());
  ASSERT_TRUE(in_flight_.Await().ok());
  EXPECT_EQ(fake_.live_bytes(), before);
}

}  // namespace
}  // namespace torch_tpu::graph
