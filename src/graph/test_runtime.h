// For tests: the runtime of this process on the fake plugin.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "graph/runtime.h"
#include "pjrt/test_plugins.h"

namespace torch_tpu::graph::testing {

class FakeRuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Runtime::SetPluginCandidates({{"fake", pjrt::FakePluginPath()}});
    auto runtime = Runtime::Get();
    ASSERT_TRUE(runtime.ok()) << runtime.status().ToString();
    runtime_ = *runtime;
    // Another test of this process may have opened the real plugin first; these need the fake.
    ASSERT_EQ(runtime_->client().platform_name(), "fake");
  }

  Runtime* runtime_ = nullptr;
};

}  // namespace torch_tpu::graph::testing
