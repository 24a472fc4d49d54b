// Tests of asynchronous completion on the fake plugin: pending work, callbacks, failures after the
// launch, lifetimes.
#include "pjrt/event.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "pjrt/test_plugins.h"

namespace torch_tpu::pjrt {
namespace {

constexpr char kNegate[] = R"(module @negate {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
)";

class EventTest : public testing::Test {
 protected:
  EventTest() : client_(OpenClient(FakePluginPath())) {
    auto program = client_->Compile(kNegate, {});
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    program_ = std::move(*program);
    const Dims dims = {4};
    auto input = client_->BufferFromHost(data_, DType::kF32, dims);
    EXPECT_TRUE(input.ok()) << input.status().ToString();
    input_ = std::move(*input);
  }

  Buffer Run(const Buffer& argument, Event* done = nullptr) const {
    PJRT_Buffer* const args[] = {argument.raw()};
    PJRT_Buffer* outputs[1] = {};
    const Status status = program_->Execute(args, {}, outputs, done);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return Buffer(client_, outputs[0]);
  }

  FakeControls fake_;
  float data_[4] = {1, 2, 3, 4};
  std::shared_ptr<const Client> client_;
  std::unique_ptr<LoadedExecutable> program_;
  Buffer input_;
};

TEST(EmptyEventTest, IsReadyAndOk) {
  const Event event;
  EXPECT_TRUE(event.IsReady());
  EXPECT_TRUE(event.Await().ok());
  int calls = 0;
  EXPECT_TRUE(event.OnReady([&](Status status) { calls += status.ok(); }).ok());
  EXPECT_EQ(calls, 1);
}

TEST_F(EventTest, HeldExecutionIsPendingUntilReleased) {
  fake_.set_hold(true);
  Event done;
  const Buffer output = Run(input_, &done);
  auto ready = output.ReadyEvent();
  ASSERT_TRUE(ready.ok()) << ready.status().ToString();
  float back[4] = {9, 9, 9, 9};
  auto copied = output.ToHost(back, sizeof(back));
  ASSERT_TRUE(copied.ok()) << copied.status().ToString();
  EXPECT_FALSE(done.IsReady());
  EXPECT_FALSE(ready->IsReady());
  EXPECT_FALSE(copied->IsReady());
  EXPECT_EQ(back[0], 9);
  fake_.set_hold(false);
  EXPECT_TRUE(copied->Await().ok());
  EXPECT_TRUE(done.Await().ok());
  EXPECT_TRUE(ready->IsReady());
  EXPECT_EQ(back[0], 0);
}

TEST_F(EventTest, DelayedExecutionsFinishInOrderAndAwaitBlocks) {
  fake_.set_execute_delay_ms(30);
  const auto start = std::chrono::steady_clock::now();
  const Buffer first = Run(input_);
  const Buffer second = Run(first);
  EXPECT_TRUE(second.Await().ok());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(60));
  EXPECT_TRUE(first.ReadyEvent()->IsReady());
}

TEST_F(EventTest, CallbackRunsOnceAfterCompletionAndOwnsItsState) {
  fake_.set_hold(true);
  auto state = std::make_shared<int>(0);
  std::promise<StatusCode> called;
  Event done;
  const Buffer output = Run(input_, &done);
  ASSERT_TRUE(done.OnReady([state, &called](Status status) {
                    ++*state;
                    called.set_value(status.code());
                  })
                  .ok());
  EXPECT_EQ(*state, 0);
  EXPECT_EQ(state.use_count(), 2);
  done = Event();  // the callback stays
  fake_.set_hold(false);
  EXPECT_EQ(called.get_future().get(), StatusCode::kOk);
  fake_.reset();  // waits for the plugin's thread
  EXPECT_EQ(*state, 1);
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(EventTest, CallbackOnAReadyEventRunsInline) {
  Event done;
  const Buffer output = Run(input_, &done);
  bool called = false;
  ASSERT_TRUE(done.OnReady([&](Status) { called = true; }).ok());
  EXPECT_TRUE(called);
}

TEST_F(EventTest, FailedOnReadyDoesNotCallAndFreesTheCallback) {
  Event done;
  const Buffer output = Run(input_, &done);
  fake_.fail_next("PJRT_Event_OnReady", 1, StatusCode::kInternal, "no callbacks today");
  auto state = std::make_shared<int>(0);
  EXPECT_EQ(done.OnReady([state](Status) { ++*state; }).ToString(), "INTERNAL: no callbacks today");
  EXPECT_EQ(*state, 0);
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(EventTest, ThrowingCallbackIsContained) {
  Event done;
  const Buffer output = Run(input_, &done);
  testing::internal::CaptureStderr();
  ASSERT_TRUE(done.OnReady([](Status) { throw std::runtime_error("oops"); }).ok());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "torch_tpu: error: an event callback threw: oops\n");
}

TEST_F(EventTest, FailureAfterTheLaunchIsReportedAtEveryWaitAndByConsumers) {
  fake_.fail_execution(1, StatusCode::kDataLoss, "bit flip");
  Event done;
  const Buffer poisoned = Run(input_, &done);
  EXPECT_EQ(done.Await().ToString(), "DATA_LOSS: bit flip");
  EXPECT_EQ(done.Await().ToString(), "DATA_LOSS: bit flip");
  EXPECT_EQ(poisoned.Await().ToString(), "DATA_LOSS: bit flip");
  float back[4];
  auto copied = poisoned.ToHost(back, sizeof(back));
  ASSERT_TRUE(copied.ok()) << copied.status().ToString();
  EXPECT_EQ(copied->Await().ToString(), "DATA_LOSS: bit flip");
  std::string seen;
  ASSERT_TRUE(done.OnReady([&](Status status) { seen = status.ToString(); }).ok());
  EXPECT_EQ(seen, "DATA_LOSS: bit flip");

  const Buffer consumer = Run(poisoned);
  EXPECT_EQ(consumer.Await().ToString(), "DATA_LOSS: bit flip");
  EXPECT_TRUE(Run(input_).Await().ok());
  EXPECT_EQ(fake_.live_errors(), 0);
}

TEST_F(EventTest, FailureOfTheLaunchItselfLeavesNothingBehind) {
  const int64_t buffers = fake_.live_buffers(), bytes = fake_.live_bytes();
  fake_.fail_next("PJRT_LoadedExecutable_Execute", 1, StatusCode::kUnavailable, "queue is full");
  PJRT_Buffer* const args[] = {input_.raw()};
  PJRT_Buffer* outputs[1] = {};
  EXPECT_EQ(program_->Execute(args, {}, outputs).ToString(), "UNAVAILABLE: queue is full");
  EXPECT_EQ(outputs[0], nullptr);

  fake_.set_memory_limit(bytes + 15);
  EXPECT_EQ(program_->Execute(args, {}, outputs).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(outputs[0], nullptr);
  EXPECT_EQ(fake_.live_buffers(), buffers);
  EXPECT_EQ(fake_.live_bytes(), bytes);
  EXPECT_EQ(fake_.live_errors(), 0);
}

TEST_F(EventTest, GivenUpPendingEventsAreDestroyedOnceReady) {
  const auto run_and_give_up = [&] {
    fake_.set_hold(true);
    Event done;
    const Buffer output = Run(input_, &done);
  };
  run_and_give_up();
  EXPECT_EQ(fake_.live_events(), 1);  // pending: kept rather than destroyed
  fake_.reset();
  run_and_give_up();
  EXPECT_EQ(fake_.live_events(), 1);  // the first one went, the second one waits
  EXPECT_EQ(fake_.call_count("PJRT_Event_Destroy"), 1);
}

TEST_F(EventTest, BuffersAndClientMayGoWhileAnExecutionIsPending) {
  const int64_t bytes = fake_.live_bytes();
  fake_.set_hold(true);
  { const Buffer output = Run(input_); }
  EXPECT_GT(fake_.live_bytes(), bytes);  // the pending execution still needs its output
  const int64_t clients = fake_.live_clients();
  input_ = Buffer();
  program_.reset();
  client_.reset();
  EXPECT_EQ(fake_.live_clients(), clients - 1);
  fake_.reset();
  EXPECT_EQ(fake_.live_bytes(), bytes - static_cast<int64_t>(sizeof(data_)));
  EXPECT_EQ(fake_.live_buffers(), 0);
  EXPECT_EQ(fake_.live_executables(), 0);
}

TEST_F(EventTest, ManyThreadsLaunchWaitAndDropEvents) {
  fake_.set_execute_delay_ms(1);
  std::atomic<int> completions{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Event done;
        const Buffer output = Run(input_, &done);
        (void)done.OnReady([&](Status status) { completions += status.ok(); });
        if (i % 4 == 0) {
          EXPECT_TRUE(output.Await().ok());
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  fake_.reset();
  EXPECT_EQ(completions, 80);
}

}  // namespace
}  // namespace torch_tpu::pjrt
