// Tests of what is said while programs are compiled: nothing for short stretches, then every
// report.
#include "graph/compile_progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace torch_tpu::graph {
namespace {

using std::chrono::milliseconds;

TEST(CompileProgress, ReportsStretchesOfMoreThanTwoSeconds) {
  std::mutex mutex;
  std::vector<CompileStretch> reports;
  SetCompileProgress([&](const CompileStretch& stretch) {
    std::lock_guard lock(mutex);
    reports.push_back(stretch);
  });
  {
    const CompileScope scope;
    std::this_thread::sleep_for(milliseconds(200));
  }
  std::this_thread::sleep_for(milliseconds(800));
  {
    std::lock_guard lock(mutex);
    EXPECT_TRUE(reports.empty());
  }
  // Three programs, the last two at once, with a pause that is too short to end the stretch.
  {
    const CompileScope scope;
    std::this_thread::sleep_for(milliseconds(1000));
  }
  std::this_thread::sleep_for(milliseconds(100));
  {
    const CompileScope second;
    const CompileScope third;
    std::this_thread::sleep_for(milliseconds(1400));
  }
  std::this_thread::sleep_for(milliseconds(1000));
  std::lock_guard lock(mutex);
  ASSERT_GE(reports.size(), 2u);
  EXPECT_EQ(reports.front().started, 3);
  EXPECT_EQ(reports.front().done, 1);
  EXPECT_GE(reports.front().seconds, 2.0);
  EXPECT_FALSE(reports.front().over);
  EXPECT_EQ(reports.back().done, 3);
  EXPECT_TRUE(reports.back().over);
  SetCompileProgress(nullptr);
}

}  // namespace
}  // namespace torch_tpu::graph
