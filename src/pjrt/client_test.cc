// Tests of clients on the CPU plugin and on the fake: devices, compilation failures, and transfers
// both ways.
#include "pjrt/client.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "pjrt/module_dump.h"
#include "pjrt/test_plugins.h"

namespace torch_tpu::pjrt {
namespace {

constexpr char kAdd[] = R"(module @add {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
)";

class ClientTest : public testing::TestWithParam<bool> {
 protected:
  bool is_fake() const { return GetParam(); }
  std::shared_ptr<const Client> client_ =
      OpenClient(is_fake() ? FakePluginPath() : CpuPluginPath());
};

INSTANTIATE_TEST_SUITE_P(Plugins, ClientTest, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Fake" : "Cpu"; });

TEST_P(ClientTest, HasOneDevice) {
  EXPECT_EQ(client_->platform_name(), is_fake() ? "fake" : "cpu");
  EXPECT_EQ(client_->platform_version().empty(), false);
  EXPECT_EQ(client_->num_addressable_devices(), 1);
  EXPECT_EQ(client_->DeviceKind(), is_fake() ? "fake" : "cpu");
  EXPECT_NE(client_->DeviceDebugString(), "");
}

TEST_P(ClientTest, EveryElementTypeMakesTheRoundTrip) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const DType dtype = static_cast<DType>(i);
    std::vector<uint8_t> data(6 * static_cast<size_t>(DTypeSize(dtype)));
    // Ones and zeros are bits that no type changes, bool included.
    for (size_t k = 0; k < data.size(); ++k) data[k] = k % 3 == 0;
    const Dims dims = {2, 3};
    auto buffer = client_->BufferFromHost(data.data(), dtype, dims);
    ASSERT_TRUE(buffer.ok()) << DTypeName(dtype) << ": " << buffer.status().ToString();
    EXPECT_EQ(buffer->dtype().value(), dtype);
    EXPECT_EQ(buffer->dims().value(), dims);
    EXPECT_EQ(buffer->OnDeviceBytes().value(), static_cast<int64_t>(data.size()));
    std::vector<uint8_t> back(data.size(), 7);
    auto copied = buffer->ToHost(back.data(), static_cast<int64_t>(back.size()));
    ASSERT_TRUE(copied.ok()) << DTypeName(dtype) << ": " << copied.status().ToString();
    ASSERT_TRUE(copied->Await().ok());
    EXPECT_EQ(back, data) << DTypeName(dtype);
  }
}

TEST_P(ClientTest, ScalarEmptyAndHighRankArrays) {
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{3, 0, 2}, Dims{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}}) {
    std::vector<int32_t> data(static_cast<size_t>(NumElements(dims)));
    std::iota(data.begin(), data.end(), 5);
    auto buffer = client_->BufferFromHost(data.data(), DType::kS32, dims);
    ASSERT_TRUE(buffer.ok()) << DimsToString(dims) << ": " << buffer.status().ToString();
    EXPECT_EQ(buffer->dims().value(), dims);
    std::vector<int32_t> back(data.size());
    auto copied = buffer->ToHost(back.data(), static_cast<int64_t>(back.size() * 4));
    ASSERT_TRUE(copied.ok()) << DimsToString(dims) << ": " << copied.status().ToString();
    ASSERT_TRUE(copied->Await().ok());
    EXPECT_EQ(back, data) << DimsToString(dims);
  }
}

TEST_P(ClientTest, HostDataMayChangeAfterBufferFromHost) {
  std::vector<float> data(1 << 16, 1.0f);
  const Dims dims = {1 << 16};
  auto buffer = client_->BufferFromHost(data.data(), DType::kF32, dims);
  ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
  std::fill(data.begin(), data.end(), 2.0f);
  std::vector<float> back(data.size());
  ASSERT_TRUE(buffer->ToHost(back.data(), 4 << 16)->Await().ok());
  EXPECT_EQ(back, std::vector<float>(data.size(), 1.0f));
}

TEST_P(ClientTest, AsynchronousTransferTellsWhenTheHostDataIsFree) {
  std::vector<float> data(1 << 16, 1.0f);
  const Dims dims = {1 << 16};
  Event done;
  auto buffer = client_->BufferFromHostAsync(data.data(), DType::kF32, dims, &done);
  ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
  ASSERT_TRUE(done.Await().ok());
  std::fill(data.begin(), data.end(), 2.0f);
  std::vector<float> back(data.size());
  ASSERT_TRUE(buffer->ToHost(back.data(), 4 << 16)->Await().ok());
  EXPECT_EQ(back, std::vector<float>(data.size(), 1.0f));
}

TEST_P(ClientTest, WrongDestinationSizeAndInvalidTypeAreRefused) {
  const float data[6] = {};
  const Dims dims = {2, 3};
  EXPECT_EQ(client_->BufferFromHost(data, DType::kInvalid, dims).status().code(),
            StatusCode::kInvalidArgument);
  auto buffer = client_->BufferFromHost(data, DType::kF32, dims);
  ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
  float back[5];
  EXPECT_EQ(buffer->ToHost(back, sizeof(back)).status().ToString(),
            "INVALID_ARGUMENT: copy to host of f32[2, 3]: expected a destination of 24 bytes, got "
            "20");
}

TEST_P(ClientTest, DeletedAndEmptyBuffersFailWithoutHarm) {
  const float data[6] = {};
  const Dims dims = {2, 3};
  auto buffer = client_->BufferFromHost(data, DType::kF32, dims);
  ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
  EXPECT_FALSE(buffer->IsDeleted());
  buffer->Delete();
  EXPECT_TRUE(buffer->IsDeleted());
  float back[6];
  auto copied = buffer->ToHost(back, sizeof(back));
  EXPECT_FALSE(copied.ok() && copied->Await().ok());
  EXPECT_FALSE(buffer->Await().ok());

  Buffer moved = std::move(*buffer);
  EXPECT_FALSE(*buffer);
  EXPECT_TRUE(buffer->IsDeleted());
  EXPECT_EQ(buffer->dims().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(buffer->Await().code(), StatusCode::kFailedPrecondition);
  buffer->Delete();
}

TEST_P(ClientTest, CopyToAnotherMemoryKind) {
  const float data[6] = {1, 2, 3, 4, 5, 6};
  const Dims dims = {2, 3};
  auto buffer = client_->BufferFromHost(data, DType::kF32, dims);
  ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
  auto pinned = buffer->CopyToMemory("pinned_host");
  ASSERT_TRUE(pinned.ok()) << pinned.status().ToString();
  float back[6] = {};
  ASSERT_TRUE(pinned->ToHost(back, sizeof(back))->Await().ok());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(back[i], data[i]);

  const Status status = buffer->CopyToMemory("moon").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().find(
                "memory kind 'moon' does not exist on this device; it has: device, pinned_host"),
            0u)
      << status.ToString();
}

TEST_P(ClientTest, ProgramThatDoesNotParseNamesTheProblem) {
  const auto program = client_->Compile("module { func.func @other( }", {});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().message().find("the program does not compile: "), 0u)
      << program.status().ToString();
}

TEST_P(ClientTest, BadCompileOptionsDoNotReachThePlugin) {
  CompileOptions options;
  options.num_partitions = 0;
  EXPECT_EQ(client_->Compile(kAdd, options).status().code(), StatusCode::kInvalidArgument);
}

TEST_P(ClientTest, MemoryStatistics) {
  const auto stats = client_->DeviceMemoryStats();
  if (is_fake()) {
    ASSERT_TRUE(stats.ok()) << stats.status().ToString();
    EXPECT_EQ(stats->count("bytes_in_use"), 1u);
    EXPECT_EQ(stats->count("bytes_limit"), 0u);
  } else {
    EXPECT_EQ(stats.status().code(), StatusCode::kUnimplemented);
  }
}

TEST(CpuClientTest, UnknownOverrideIsAnErrorThatNamesIt) {
  const auto client = OpenClient(CpuPluginPath());
  CompileOptions options;
  options.overrides["xla_no_such_flag"] = true;
  const auto program = client->Compile(kAdd, options);
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.status().message().find("xla_no_such_flag"), std::string::npos)
      << program.status().ToString();
  options.overrides = {{"xla_cpu_enable_fast_math", false},
                       {"xla_backend_optimization_level", int64_t{1}}};
  EXPECT_TRUE(client->Compile(kAdd, options).ok());
}

TEST(CpuClientTest, UnknownHintIsLeftOut) {
  const auto client = OpenClient(CpuPluginPath());
  CompileOptions options;
  options.hints["xla_no_such_flag"] = true;
  const auto program = client->Compile(kAdd, options);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
}

TEST(FakeClientTest, RefusedHintsAreLearned) {
  FakeControls fake;
  const auto client = OpenClient(FakePluginPath());
  CompileOptions options, rest;
  options.hints = {{"xla_a", true}, {"xla_b", true}, {"xla_c", true}};
  rest.hints = {{"xla_b", true}};
  const auto refuse = [&](const char* message) {
    fake.fail_next("PJRT_Client_Compile", 1, StatusCode::kInvalidArgument, message);
  };
  refuse("No such compile option: 'xla_c'");
  fake.fail_next("PJRT_Client_Compile", 2, StatusCode::kInvalidArgument,
                 "No such compile option: 'xla_a'");
  EXPECT_TRUE(client->Compile(kAdd, options).ok());
  EXPECT_EQ(fake.call_count("PJRT_Client_Compile"), 3);
  EXPECT_EQ(fake.last_compile_options(), rest.Serialize());
  EXPECT_TRUE(client->Compile(kAdd, options).ok());
  EXPECT_EQ(fake.call_count("PJRT_Client_Compile"), 4);
  EXPECT_EQ(fake.last_compile_options(), rest.Serialize());

  // An override of the same kind is the caller's mistake.
  options.overrides = {{"xla_d", true}};
  refuse("No such compile option: 'xla_d'");
  EXPECT_EQ(client->Compile(kAdd, options).status().ToString(),
            "INVALID_ARGUMENT: the program does not compile: No such compile option: 'xla_d'");
  EXPECT_EQ(fake.call_count("PJRT_Client_Compile"), 5);
}

TEST(CpuClientTest, CreateOptionsReachThePlugin) {
  const auto plugin = Plugin::Load(CpuPluginPath());
  ASSERT_TRUE(plugin.ok()) << plugin.status().ToString();
  const auto client = Client::Create(*plugin, {{{"cpu_device_count", int64_t{3}}}});
  ASSERT_TRUE(client.ok()) << client.status().ToString();
  EXPECT_EQ((*client)->num_addressable_devices(), 3);
}

TEST(FakeClientTest, UnknownCreateOptionAndFailingPluginNameThePlugin) {
  FakeControls fake;
  const auto plugin = Plugin::Load(FakePluginPath());
  ASSERT_TRUE(plugin.ok()) << plugin.status().ToString();
  EXPECT_EQ(Client::Create(*plugin, {{{"colour", std::string("red")}}}).status().message(),
            "PJRT plugin '" + (*plugin)->path() +
                "' cannot open its devices: unknown create option colour");
  fake.fail_next("PJRT_Client_AddressableDevices", 1, StatusCode::kUnavailable, "chip is busy");
  const auto client = Client::Create(*plugin);
  EXPECT_EQ(client.status().ToString(), "UNAVAILABLE: chip is busy");
  EXPECT_EQ(fake.live_clients(), 0);
  EXPECT_EQ(fake.live_errors(), 0);
}

TEST(FakeClientTest, CompileFailureKeepsFirstLineAndWholeText) {
  FakeControls fake;
  const auto client = OpenClient(FakePluginPath());
  fake.fail_next("PJRT_Client_Compile", 2, StatusCode::kInternal, "line one\nline two");
  EXPECT_TRUE(client->Compile(kAdd, {}).ok());
  EXPECT_EQ(client->Compile(kAdd, {}).status().ToString(),
            "INTERNAL: the program does not compile: line one\nline one\nline two");
  EXPECT_TRUE(client->Compile(kAdd, {}).ok());
  EXPECT_EQ(fake.call_count("PJRT_Client_Compile"), 3);
  EXPECT_EQ(fake.live_executables(), 0);
}

TEST(FakeClientTest, PluginGetsModuleAndOptions) {
  FakeControls fake;
  const auto client = OpenClient(FakePluginPath());
  CompileOptions options;
  options.overrides["xla_flag"] = int64_t{3};
  ASSERT_TRUE(client->Compile(kAdd, options).ok());
  EXPECT_EQ(fake.last_module(), kAdd);
  EXPECT_EQ(fake.last_compile_options(), options.Serialize());
}

TEST(FakeClientTest, OutOfMemory) {
  FakeControls fake;
  const auto client = OpenClient(FakePluginPath());
  const std::vector<float> data(256);
  const Dims dims = {256};
  const int64_t before = fake.live_bytes();
  fake.set_memory_limit(before + 1500);
  auto first = client->BufferFromHost(data.data(), DType::kF32, dims);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  const auto second = client->BufferFromHost(data.data(), DType::kF32, dims);
  EXPECT_EQ(second.status().ToString(), "RESOURCE_EXHAUSTED: out of memory allocating 1024 bytes");
  const auto stats = client->DeviceMemoryStats();
  EXPECT_EQ(stats->at("bytes_in_use"), before + 1024);
  EXPECT_EQ(stats->at("bytes_limit"), before + 1500);
  *first = Buffer();
  EXPECT_TRUE(client->BufferFromHost(data.data(), DType::kF32, dims).ok());
}

TEST(FakeClientTest, SlotThatThePluginLacksIsNamed) {
  const auto client = OpenClient(FakePluginPath());
  const auto program = client->Compile(kAdd, {});
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  const Status status = (*program)->GetCostAnalysis().status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(status.message().find(
                "PJRT_Executable_GetCostAnalysis is not offered by this PJRT plugin (API 0."),
            0u)
      << status.ToString();
}

TEST(ModuleDumpTest, WritesEachModuleToItsOwnFile) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "torch_tpu_dump" / "deep";
  std::filesystem::remove_all(directory);
  DumpModule(directory.string(), "first");
  DumpModule(directory.string(), "second");
  std::multiset<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    texts.insert(text.str());
    EXPECT_EQ(entry.path().extension(), ".mlir");
  }
  EXPECT_EQ(texts, (std::multiset<std::string>{"first", "second"}));
  std::filesystem::remove_all(directory);
}

TEST(ModuleDumpTest, DirectoryThatCannotBeMadeIsNotFatal) {
  testing::internal::CaptureStderr();
  DumpModule("/proc/no/such/place", "text");
  DumpModule("/proc/no/such/place", "text");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(log.find("torch_tpu: warning: TORCH_TPU_DUMP_HLO: cannot write /proc/no/such/place/"),
            0u)
      << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
}

}  // namespace
}  // namespace torch_tpu::pjrt
