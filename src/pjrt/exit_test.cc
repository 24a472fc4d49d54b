// Tests that static objects of this layer may be destroyed after main: the process must end with its own exit code.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "pjrt/test_plugins.h"

namespace torch_tpu::pjrt {
namespace {

constexpr char kAdd[] = R"(module @add {
  func.func public @main(%arg0: tensor<512x512xf32>, %arg1: tensor<512x512xf32>)
      -> tensor<512x512xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %0 : tensor<512x512xf32>
  }
}
)";

struct Holdings {
  std::shared_ptr<const Client> client;
  std::unique_ptr<LoadedExecutable> program;
  Buffer input, output;
  Event done;
};

// Leaves everything, with an execution under way, to the destructors of static objects.
[[noreturn]] void ExitWithLiveObjects(const std::string& plugin_path, bool hold) {
  static Holdings holdings;
  holdings.client = OpenClient(plugin_path);
  if (hold) (new FakeControls)->set_hold(true);
  auto program = holdings.client->Compile(kAdd, {});
  holdings.program = std::move(*program);
  const std::vector<float> data(512 * 512, 1.0f);
  const Dims dims = {512, 512};
  holdings.input = std::move(*holdings.client->BufferFromHost(data.data(), DType::kF32, dims));
  PJRT_Buffer* const args[] = {holdings.input.raw(), holdings.input.raw()};
  PJRT_Buffer* outputs[1] = {};
  const bool launched = holdings.program->Execute(args, {}, outputs, &holdings.done).ok();
  holdings.output = Buffer(holdings.client, outputs[0]);
  std::exit(launched ? 7 : 8);
}

class ExitTest : public testing::Test {
 protected:
  // A fresh process each: forking one that has a plugin's threads would not do.
  ExitTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(ExitTest, CpuPluginWithWorkUnderWay) {
  EXPECT_EXIT(ExitWithLiveObjects(CpuPluginPath(), false), testing::ExitedWithCode(7), "");
}

TEST_F(ExitTest, FakePluginWithPendingWork) {
  EXPECT_EXIT(ExitWithLiveObjects(FakePluginPath(), true), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace torch_tpu::pjrt
