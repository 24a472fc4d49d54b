// Tests of topologies and of compiling without devices, on the fake plugin.
#include "pjrt/compiled_program.h"

#include <gtest/gtest.h>

#include "pjrt/test_plugins.h"

namespace torch_tpu::pjrt {
namespace {

constexpr std::string_view kModule =
    "module @m { func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>) {} }";

std::shared_ptr<const Topology> Open(const std::string& name) {
  auto plugin = Plugin::Load(FakePluginPath());
  EXPECT_TRUE(plugin.ok()) << plugin.status().ToString();
  auto topology = Topology::Create(*plugin, name);
  EXPECT_TRUE(topology.ok()) << topology.status().ToString();
  return topology.ok() ? *topology : nullptr;
}

TEST(TopologyTest, TellsDevicesAndAttributes) {
  const auto topology = Open("fake:3");
  ASSERT_NE(topology, nullptr);
  EXPECT_EQ(topology->platform_name(), "fake");
  ASSERT_EQ(topology->devices().size(), 3u);
  EXPECT_EQ(topology->devices()[0].kind, "fake");
  EXPECT_EQ(topology->attributes().at("device_memory_bytes_limit"), "1048576");
}

TEST(TopologyTest, RefusedNameIsNamed) {
  auto plugin = Plugin::Load(FakePluginPath());
  ASSERT_TRUE(plugin.ok());
  const auto topology = Topology::Create(*plugin, "fake:0");
  EXPECT_EQ(topology.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(topology.status().message(), "topology 'fake:0': expected fake:1 to fake:64");
}

TEST(CompiledProgramTest, CompilesWithoutAClient) {
  const FakeControls fake;
  const auto topology = Open("fake:1");
  auto program = CompiledProgram::Compile(*topology, kModule, {});
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_EQ(fake.last_module(), kModule);
  EXPECT_EQ((*program)->Fingerprint(), "fake");
  const auto memory = (*program)->Memory();
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->argument, 16);
  EXPECT_EQ(memory->total_allocation, 0);
  EXPECT_EQ((*program)->GeneratedCodeBytes().value(), static_cast<int64_t>(kModule.size()));
  std::string format;
  ASSERT_TRUE((*program)->OptimizedProgram(&format).ok());
  EXPECT_EQ(format, "hlo");
  EXPECT_EQ((*program)->Costs().status().code(), StatusCode::kUnimplemented);
}

TEST(CompiledProgramTest, EffortIsMergedIntoTheOptions) {
  const FakeControls fake;
  const auto topology = Open("fake:1");
  ASSERT_TRUE(CompiledProgram::Compile(*topology, kModule, {}).ok());
  const std::string plain = fake.last_compile_options();
  EXPECT_EQ(plain, CompileOptions().Serialize());
  ASSERT_TRUE(CompiledProgram::Compile(*topology, kModule, {}, {.optimization = 9}).ok());
  // Field 3 (build options) once more, of 3 bytes: field 24 as a varint of 9.
  EXPECT_EQ(fake.last_compile_options(), plain + std::string("\x1a\x03\xc0\x01\x09", 5));
}

TEST(CompiledProgramTest, FailuresKeepCodeAndMessage) {
  FakeControls fake;
  const auto topology = Open("fake:1");
  fake.fail_next("PJRT_Compile", 1, StatusCode::kResourceExhausted, "exceeds 15.75G");
  const auto program = CompiledProgram::Compile(*topology, kModule, {});
  EXPECT_EQ(program.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(program.status().message(), "exceeds 15.75G");
  CompileOptions bad;
  bad.num_replicas = 0;
  EXPECT_EQ(CompiledProgram::Compile(*topology, kModule, bad).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace torch_tpu::pjrt
