// Tests of the checks before a compile.
#include "aot/module_check.h"

#include <gtest/gtest.h>

#include <string>

namespace torch_tpu::aot {
namespace {

TEST(CheckBoundedTest, NamesLineTypeAndDimension) {
  const Status status = CheckBounded("module {\n  %0 = stablehlo.abs %x : tensor<2x?xf32>\n}");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("line 2: tensor<2x?xf32> has no bound for dimension 1"),
            std::string::npos)
      << status.message();
}

TEST(CheckBoundedTest, BoundsAreEnough) {
  EXPECT_TRUE(CheckBounded("%0 : tensor<2x?xf32, #stablehlo.bounds<?, 8>>").ok());
  EXPECT_TRUE(
      CheckBounded("#b = #stablehlo.bounds<?, 8>\n%0 : tensor<2x?xf32, #b> -> tensor<f32>").ok());
  EXPECT_FALSE(CheckBounded("%0 : tensor<?x?xf32, #stablehlo.bounds<?, 8>>").ok());
  EXPECT_FALSE(CheckBounded("#b = #stablehlo.bounds<8, ?>\n%0 : tensor<2x?xf32, #b>").ok());
}

TEST(CheckBoundedTest, TextIsNoType) {
  EXPECT_TRUE(CheckBounded("// tensor<?xf32>\n%0 = \"a tensor<?xf32> \\\" tensor<?xf32>\"").ok());
  EXPECT_TRUE(CheckBounded("why? tensor<2xf32>").ok());
}

TEST(CheckDevicesTest, ModuleAndOptionsCount) {
  EXPECT_TRUE(CheckDevices("module {}", 2, 2, 4).ok());
  EXPECT_FALSE(CheckDevices("module {}", 4, 2, 4).ok());
  const std::string module = "module attributes {mhlo.num_partitions = 8 : i32} {}";
  EXPECT_TRUE(CheckDevices(module, 1, 1, 8).ok());
  const Status few = CheckDevices(module, 1, 1, 4);
  EXPECT_EQ(few.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(few.message().find("1 replicas of 8 partitions and the topology has 4 devices"),
            std::string::npos);
  EXPECT_FALSE(CheckDevices("module {}", int64_t{1} << 62, 4, 4).ok());
}

}  // namespace
}  // namespace torch_tpu::aot
