// Tests of the end of a process with live buffers: it must end with its own exit code, and late
// calls fail politely.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "pjrt/test_plugins.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

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

// Leaves everything to the destructors of static objects, with executions under way.
[[noreturn]] void ExitWithLiveObjects(const std::string& plugin_path, bool shut_down) {
#ifdef __SANITIZE_ADDRESS__
  __lsan_disable();  // objects that nobody destroys are what this is about
#endif
  static Holdings holdings;
  holdings.client = OpenClient(plugin_path);
  // On purpose never destroyed: that would wait for the executions.
  if (plugin_path == FakePluginPath()) (new FakeControls)->set_execute_delay_ms(5);
  auto program = holdings.client->Compile(kAdd, {});
  holdings.program = std::move(*program);
  const std::vector<float> data(512 * 512, 1.0f);
  const Dims dims = {512, 512};
  holdings.input = std::move(*holdings.client->BufferFromHost(data.data(), DType::kF32, dims));
  PJRT_Buffer* const args[] = {holdings.input.raw(), holdings.input.raw()};
  PJRT_Buffer* outputs[1] = {};
  bool launched = true;
  for (int i = 0; i < 10; ++i) {
    launched = launched && holdings.program->Execute(args, {}, outputs, &holdings.done).ok();
    holdings.output = Buffer(holdings.client, outputs[0]);
  }
  if (!shut_down) std::exit(launched ? 7 : 8);

  Client::ShutDownAll();
  const bool refused =
      holdings.program->Execute(args, {}, outputs).code() == StatusCode::kFailedPrecondition &&
      holdings.output.Await().code() == StatusCode::kFailedPrecondition &&
      holdings.done.Await().code() == StatusCode::kFailedPrecondition;
  std::exit(launched && refused ? 7 : 9);
}

class ExitTest : public testing::Test {
 protected:
  // A fresh process each: forking one that has a plugin's threads would not do.
  ExitTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(ExitTest, CpuPluginThatIsShutDownWithWorkUnderWay) {
  EXPECT_EXIT(ExitWithLiveObjects(CpuPluginPath(), true), testing::ExitedWithCode(7), "");
}

TEST_F(ExitTest, FakePluginThatIsShutDownWithWorkUnderWay) {
  EXPECT_EXIT(ExitWithLiveObjects(FakePluginPath(), true), testing::ExitedWithCode(7), "");
}

TEST_F(ExitTest, DestructorsLeaveThePluginAloneAtExit) {
  EXPECT_EXIT(ExitWithLiveObjects(FakePluginPath(), false), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace torch_tpu::pjrt
