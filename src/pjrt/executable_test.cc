// Tests of execution on the CPU plugin and on the fake: values, donation and its veto, storage of
// programs, threads.
#include "pjrt/executable.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

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

// The first argument may become the first output.
constexpr char kDonatingAdd[] = R"(module @donating_add {
  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32},
                         %arg1: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
)";

constexpr char kSumAndDifference[] = R"(module @two {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>)
      -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xf32>
    return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  }
}
)";

using Values = std::vector<float>;
const Values kA = {1, 2, 3, 4, 5, 6};
const Values kB = {10, 20, 30, 40, 50, 60};
const Values kSum = {11, 22, 33, 44, 55, 66};

class ExecutableTest : public testing::TestWithParam<bool> {
 protected:
  bool is_fake() const { return GetParam(); }

  Buffer ToDevice(const Values& values) const {
    const Dims dims = {2, 3};
    auto buffer = client_->BufferFromHost(values.data(), DType::kF32, dims);
    EXPECT_TRUE(buffer.ok()) << buffer.status().ToString();
    return std::move(*buffer);
  }

  Values ToHost(const Buffer& buffer) const {
    Values values(6, -1);
    auto copied = buffer.ToHost(values.data(), 24);
    const Status status = copied.ok() ? copied->Await() : copied.status();
    EXPECT_TRUE(status.ok()) << status.ToString();
    return values;
  }

  std::unique_ptr<LoadedExecutable> Compile(const char* module) const {
    auto program = client_->Compile(module, {});
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return program.ok() ? std::move(*program) : nullptr;
  }

  // Runs a program of two arguments and one output.
  Result<Buffer> Run(const LoadedExecutable& program, const Buffer& a, const Buffer& b,
                     std::span<const int64_t> non_donatable = {}) const {
    PJRT_Buffer* const args[] = {a.raw(), b.raw()};
    PJRT_Buffer* outputs[1] = {};
    RETURN_IF_ERROR(program.Execute(args, non_donatable, outputs));
    return Buffer(client_, outputs[0]);
  }

  std::shared_ptr<const Client> client_ =
      OpenClient(is_fake() ? FakePluginPath() : CpuPluginPath());
};

INSTANTIATE_TEST_SUITE_P(Plugins, ExecutableTest, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Fake" : "Cpu"; });

TEST_P(ExecutableTest, AddHasTheRightValuesTypeAndShape) {
  const auto program = Compile(kAdd);
  EXPECT_EQ(program->num_outputs(), 1);
  const Buffer a = ToDevice(kA), b = ToDevice(kB);
  auto sum = Run(*program, a, b);
  ASSERT_TRUE(sum.ok()) << sum.status().ToString();
  EXPECT_EQ(sum->dtype().value(), DType::kF32);
  EXPECT_EQ(sum->dims().value(), (Dims{2, 3}));
  ASSERT_TRUE(sum->Await().ok());
  EXPECT_EQ(ToHost(*sum), is_fake() ? Values(6, 0) : kSum);
  EXPECT_FALSE(a.IsDeleted());
  EXPECT_EQ(ToHost(a), kA);
}

TEST_P(ExecutableTest, SeveralOutputsAndTheCompletionEvent) {
  const auto program = Compile(kSumAndDifference);
  ASSERT_EQ(program->num_outputs(), 2);
  const Buffer a = ToDevice(kA), b = ToDevice(kB);
  PJRT_Buffer* const args[] = {a.raw(), b.raw()};
  PJRT_Buffer* outputs[2] = {};
  Event done;
  const Status status = program->Execute(args, {}, outputs, &done);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const Buffer sum(client_, outputs[0]), difference(client_, outputs[1]);
  EXPECT_TRUE(done.Await().ok());
  EXPECT_TRUE(done.IsReady());
  EXPECT_EQ(ToHost(sum), is_fake() ? Values(6, 0) : kSum);
  EXPECT_EQ(ToHost(difference), is_fake() ? Values(6, 0) : (Values{-9, -18, -27, -36, -45, -54}));
}

TEST_P(ExecutableTest, DonatedInputIsDeleted) {
  const auto program = Compile(kDonatingAdd);
  const Buffer a = ToDevice(kA), b = ToDevice(kB);
  auto sum = Run(*program, a, b);
  ASSERT_TRUE(sum.ok()) << sum.status().ToString();
  EXPECT_TRUE(a.IsDeleted());
  EXPECT_FALSE(b.IsDeleted());
  EXPECT_EQ(ToHost(*sum), is_fake() ? kA : kSum);

  Values values(6);
  auto copied = a.ToHost(values.data(), 24);
  EXPECT_FALSE(copied.ok() && copied->Await().ok());
  const auto again = Run(*program, a, b);
  EXPECT_EQ(again.status().code(), StatusCode::kInvalidArgument) << again.status().ToString();
}

TEST_P(ExecutableTest, VetoedDonationKeepsTheInputAndTheResultIsRight) {
  const auto program = Compile(kDonatingAdd);
  const Buffer a = ToDevice(kA), b = ToDevice(kB);
  const int64_t keep_first[] = {0};
  auto sum = Run(*program, a, b, keep_first);
  ASSERT_TRUE(sum.ok()) << sum.status().ToString();
  EXPECT_EQ(ToHost(*sum), is_fake() ? kA : kSum);
  EXPECT_FALSE(a.IsDeleted());
  EXPECT_EQ(ToHost(a), kA);
  EXPECT_EQ(ToHost(b), kB);
}

TEST_P(ExecutableTest, OneBufferMayBeBothArgumentsUnlessItIsDonated) {
  const Buffer a = ToDevice(kA);
  auto twice = Run(*Compile(kAdd), a, a);
  ASSERT_TRUE(twice.ok()) << twice.status().ToString();
  EXPECT_EQ(ToHost(*twice), is_fake() ? Values(6, 0) : (Values{2, 4, 6, 8, 10, 12}));
  EXPECT_FALSE(Run(*Compile(kDonatingAdd), a, a).ok());
}

TEST_P(ExecutableTest, WrongArgumentsAreRefused) {
  const auto program = Compile(kAdd);
  const Buffer a = ToDevice(kA);
  PJRT_Buffer* const one[] = {a.raw()};
  PJRT_Buffer* outputs[1] = {};
  EXPECT_EQ(program->Execute(one, {}, outputs).code(), StatusCode::kInvalidArgument);

  PJRT_Buffer* const two[] = {a.raw(), a.raw()};
  EXPECT_EQ(program->Execute(two, {}, {}).ToString(),
            "INVALID_ARGUMENT: execute: the program has 1 outputs, got room for 0");

  // XLA compares sizes in bytes, not shapes or types.
  const Dims dims = {2, 2};
  auto other = client_->BufferFromHost(kA.data(), DType::kF32, dims);
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  auto sum = Run(*program, a, *other);
  const Status status = sum.ok() ? sum->Await() : sum.status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
}

TEST_P(ExecutableTest, SerializedProgramRunsAgainAndInAnotherClient) {
  const auto program = Compile(kAdd);
  const auto bytes = program->Serialize();
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  for (bool fresh_client : {false, true}) {
    if (fresh_client) client_ = OpenClient(is_fake() ? FakePluginPath() : CpuPluginPath());
    auto loaded = client_->DeserializeAndLoad(*bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    EXPECT_EQ((*loaded)->num_outputs(), 1);
    const Buffer a = ToDevice(kA), b = ToDevice(kB);
    auto sum = Run(**loaded, a, b);
    ASSERT_TRUE(sum.ok()) << sum.status().ToString();
    EXPECT_EQ(ToHost(*sum), is_fake() ? Values(6, 0) : kSum);
  }
}

TEST_P(ExecutableTest, MemoryStatistics) {
  const auto stats = Compile(kDonatingAdd)->GetMemoryStats();
  ASSERT_TRUE(stats.ok()) << stats.status().ToString();
  EXPECT_EQ(stats->argument, 48);
  EXPECT_EQ(stats->output, 24);
  EXPECT_EQ(stats->alias, 24);
  EXPECT_EQ(Compile(kAdd)->GetMemoryStats()->alias, 0);
}

TEST_P(ExecutableTest, ManyThreadsShareOneProgram) {
  const auto program = Compile(kAdd);
  const Buffer a = ToDevice(kA), zero = ToDevice(Values(6, 0));
  constexpr int kThreads = 8, kRounds = 100;
  std::vector<Status> failures(kThreads);
  std::vector<Values> results(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      auto sum = Run(*program, zero, zero);
      for (int round = 0; sum.ok() && round < kRounds; ++round) {
        auto next = Run(*program, *sum, a);
        sum = std::move(next);
      }
      failures[t] = sum.status();
      if (sum.ok()) results[t] = ToHost(*sum);
    });
  }
  for (auto& thread : threads) thread.join();
  Values expected(6, 0);
  for (int i = 0; i < 6 && !is_fake(); ++i) expected[i] = kRounds * kA[i];
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_TRUE(failures[t].ok()) << failures[t].ToString();
    EXPECT_EQ(results[t], expected);
  }
}

TEST_P(ExecutableTest, ManyThreadsCompileAndDestroy) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto program = Compile(kAdd);
      const Buffer a = ToDevice(kA), b = ToDevice(kB);
      auto sum = Run(*program, a, b);
      if (sum.ok() && ToHost(*sum) == (is_fake() ? Values(6, 0) : kSum)) ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

TEST_P(ExecutableTest, BuffersOutliveTheOtherHoldersOfTheirClient) {
  Buffer a, sum;
  {
    const auto program = Compile(kAdd);
    a = ToDevice(kA);
    const Buffer b = ToDevice(kB);
    auto result = Run(*program, a, b);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    sum = std::move(*result);
    client_.reset();
  }
  EXPECT_EQ(ToHost(a), kA);
  EXPECT_EQ(ToHost(sum), is_fake() ? Values(6, 0) : kSum);
}

TEST(CpuExecutableTest, OptimizedProgramAndFingerprint) {
  const auto client = OpenClient(CpuPluginPath());
  const auto first = client->Compile(kAdd, {});
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  std::string format;
  const auto optimized = (*first)->OptimizedProgram(&format);
  ASSERT_TRUE(optimized.ok()) << optimized.status().ToString();
  EXPECT_EQ(format, "hlo_with_config");
  EXPECT_GT(optimized->size(), 50u);
  const auto second = client->Compile(kAdd, {});
  const auto other = client->Compile(kSumAndDifference, {});
  EXPECT_EQ((*first)->fingerprint(), (*second)->fingerprint());
  if (!(*first)->fingerprint().empty()) {
    EXPECT_NE((*first)->fingerprint(), (*other)->fingerprint());
  }
}

// The reduction is long enough for the libraries that some plugins use for large ones.
TEST(CpuExecutableTest, DefaultOptionsKeepNanInMaximumAndMinimum) {
  const auto client = OpenClient(CpuPluginPath());
  constexpr int kSize = 8192;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Dims dims = {kSize};
  for (const std::string op : {"maximum", "minimum"}) {
    const std::string module = R"(module @extremum {
  func.func public @main(%arg0: tensor<8192xf32>, %arg1: tensor<8192xf32>)
      -> (tensor<8192xf32>, tensor<f32>) {
    %0 = stablehlo.)" + op + R"( %arg0, %arg1 : tensor<8192xf32>
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    %2 = stablehlo.reduce(%arg1 init: %1) applies stablehlo.)" +
                               op +
                               R"( across dimensions = [0]
        : (tensor<8192xf32>, tensor<f32>) -> tensor<f32>
    return %0, %2 : tensor<8192xf32>, tensor<f32>
  }
}
)";
    for (CompileEffort effort : {CompileEffort::kFull, CompileEffort::kQuick}) {
      const auto program = client->Compile(module, client->DefaultCompileOptions(effort));
      ASSERT_TRUE(program.ok()) << program.status().ToString();
      Values ones(kSize, 1), one_nan(kSize, 1);
      one_nan[1000] = nan;
      const auto a = client->BufferFromHost(ones.data(), DType::kF32, dims);
      const auto b = client->BufferFromHost(one_nan.data(), DType::kF32, dims);
      for (bool nan_first : {false, true}) {
        PJRT_Buffer* args[] = {a->raw(), b->raw()};
        if (nan_first) std::swap(args[0], args[1]);
        PJRT_Buffer* outputs[2] = {};
        ASSERT_TRUE((*program)->Execute(args, {}, outputs).ok());
        const Buffer elementwise(client, outputs[0]), reduced(client, outputs[1]);
        Values values(kSize);
        ASSERT_TRUE(elementwise.ToHost(values.data(), kSize * 4)->Await().ok());
        EXPECT_TRUE(std::isnan(values[1000])) << op << " nan first: " << nan_first;
        EXPECT_EQ(values[999], 1);
        float result = 0;
        ASSERT_TRUE(reduced.ToHost(&result, 4)->Await().ok());
        EXPECT_EQ(std::isnan(result), !nan_first) << op << " effort " << static_cast<int>(effort);
      }
    }
  }
}

TEST(CpuExecutableTest, CostAnalysisCountsTheAdditionsWhereOffered) {
  const auto client = OpenClient(CpuPluginPath());
  const auto program = client->Compile(kAdd, {});
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  const auto costs = (*program)->GetCostAnalysis();
  if (!costs.ok()) {
    EXPECT_EQ(costs.status().code(), StatusCode::kUnimplemented);
    return;
  }
  EXPECT_EQ(costs->at("flops"), 6.0);
  EXPECT_EQ(costs->at("bytes accessed"), 72.0);
}

}  // namespace
}  // namespace torch_tpu::pjrt
