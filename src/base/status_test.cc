// Tests of Status and Result: codes, context, and the two early-return macros.
#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace torch_tpu {
namespace {

TEST(StatusTest, DefaultIsOk) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.ToString(), "OK");
  EXPECT_EQ(status.message(), "");
}

TEST(StatusTest, ToStringNamesTheCode) {
  EXPECT_EQ(InvalidArgument("bad").ToString(), "INVALID_ARGUMENT: bad");
  EXPECT_EQ(Status(StatusCode::kResourceExhausted, "full").ToString(), "RESOURCE_EXHAUSTED: full");
  EXPECT_EQ(Status(StatusCode::kUnauthenticated, "who").ToString(), "UNAUTHENTICATED: who");
}

TEST(StatusTest, UnknownNumberIsNamedUnknown) {
  EXPECT_STREQ(StatusCodeName(static_cast<StatusCode>(99)), "UNKNOWN");
  EXPECT_STREQ(StatusCodeName(static_cast<StatusCode>(-1)), "UNKNOWN");
}

TEST(StatusTest, WithContextKeepsTheCode) {
  const Status inner = NotFound("no file");
  const Status outer = inner.WithContext("loading 'x'");
  EXPECT_EQ(outer.code(), StatusCode::kNotFound);
  EXPECT_EQ(outer.message(), "loading 'x': no file");
  EXPECT_TRUE(Status().WithContext("loading").ok());
  EXPECT_EQ(Status().WithContext("loading").message(), "");
}

Status FailIfNegative(int x) {
  if (x < 0) return InvalidArgument("negative");
  return {};
}

Result<std::unique_ptr<int>> Box(int x) {
  RETURN_IF_ERROR(FailIfNegative(x));
  return std::make_unique<int>(x);
}

Result<int> SumOfBoxes(int x, int y) {
  ASSIGN_OR_RETURN(auto first, Box(x));
  ASSIGN_OR_RETURN(const auto second, Box(y));
  return *first + *second;
}

TEST(ResultTest, MacrosPassValuesAndFailuresOn) {
  Result<int> sum = SumOfBoxes(2, 40);
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(*sum, 42);
  EXPECT_TRUE(sum.status().ok());

  for (Result<int> failed : {SumOfBoxes(-1, 1), SumOfBoxes(1, -1)}) {
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.status().ToString(), "INVALID_ARGUMENT: negative");
  }
}

TEST(ResultTest, ReadingAFailedResultThrows) {
  Result<int> failed = Internal("broken");
  EXPECT_THROW((void)failed.value(), std::bad_variant_access);
}

}  // namespace
}  // namespace torch_tpu
