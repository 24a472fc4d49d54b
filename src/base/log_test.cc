// Tests of the log: level filter and line format.
#include "base/log.h"

#include <gtest/gtest.h>

namespace torch_tpu {
namespace {

class LogTest : public testing::Test {
 protected:
  ~LogTest() override { SetLogLevel(LogLevel::kWarning); }
};

TEST_F(LogTest, WritesOnlyLinesOfTheLevelOrMoreSevere) {
  SetLogLevel(LogLevel::kWarning);
  testing::internal::CaptureStderr();
  Log(LogLevel::kError, "one");
  Log(LogLevel::kWarning, "two");
  Log(LogLevel::kInfo, "three");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "torch_tpu: error: one\ntorch_tpu: warning: two\n");
}

TEST_F(LogTest, SetLogLevelChangesWhatIsEnabled) {
  SetLogLevel(LogLevel::kError);
  EXPECT_TRUE(LogEnabled(LogLevel::kError));
  EXPECT_FALSE(LogEnabled(LogLevel::kWarning));
  SetLogLevel(LogLevel::kDebug);
  EXPECT_TRUE(LogEnabled(LogLevel::kDebug));
}

}  // namespace
}  // namespace torch_tpu
