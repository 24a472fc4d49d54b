// Tests of racing a storage against the compiler.
#include "graph/race.h"

#include <gtest/gtest.h>

#include <thread>

namespace torch_tpu::graph {
namespace {

using std::chrono::milliseconds;
using Answer = Result<std::shared_ptr<int>>;

struct Outcome {
  int value = 0;
  int made = 0;
};

// `read` gives 1 after a while (or nothing), `make` gives 2 after a while.
Outcome RunRace(milliseconds grace, milliseconds read_takes, bool found, milliseconds make_takes) {
  cache::WorkQueue readers(1), makers(1);
  std::atomic<int> made{0};
  const Answer answer = Race<int>(
      readers, makers, grace,
      [=] {
        std::this_thread::sleep_for(read_takes);
        return found ? std::make_shared<int>(1) : nullptr;
      },
      [=, &made]() -> Answer {
        ++made;
        std::this_thread::sleep_for(make_takes);
        return std::make_shared<int>(2);
      });
  EXPECT_TRUE(answer.ok());
  return {answer.ok() ? **answer : 0, made.load()};
}

TEST(Race, AQuickReadMakesNothing) {
  const Outcome o = RunRace(milliseconds(5000), milliseconds(0), true, milliseconds(0));
  EXPECT_EQ(o.value, 1);
  EXPECT_EQ(o.made, 0);
}

TEST(Race, AMissEndsTheGraceAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(RunRace(milliseconds(5000), milliseconds(0), false, milliseconds(0)).value, 2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(4000));
}

TEST(Race, ASlowReadIsOvertaken) {
  const Outcome o = RunRace(milliseconds(1), milliseconds(1000), true, milliseconds(0));
  EXPECT_EQ(o.value, 2);
}

TEST(Race, ASlowCompileIsOvertaken) {
  const Outcome o = RunRace(milliseconds(1), milliseconds(100), true, milliseconds(1500));
  EXPECT_EQ(o.value, 1);
  EXPECT_EQ(o.made, 1);
}

TEST(Race, AFullQueueIsDoneWithout) {
  cache::WorkQueue readers(1), makers(1);
  readers.Close();
  const Answer answer = Race<int>(
      readers, makers, milliseconds(5000), [] { return std::make_shared<int>(1); },
      []() -> Answer { return std::make_shared<int>(2); });
  EXPECT_EQ(**answer, 2);
}

TEST(Race, TheErrorOfTheCompilerIsKept) {
  cache::WorkQueue readers(1), makers(1);
  const Answer answer = Race<int>(
      readers, makers, milliseconds(10), [] { return std::shared_ptr<int>(); },
      []() -> Answer { return InvalidArgument("no"); });
  EXPECT_EQ(answer.status().message(), "no");
}

}  // namespace
}  // namespace torch_tpu::graph
