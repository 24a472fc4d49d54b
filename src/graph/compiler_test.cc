// Tests of the tiers on the fake plugin: what is compiled, what is loaded, what is refused.
#include "graph/compiler.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "cache/directory.h"
#include "cache/key_name.h"
#include "cache/remote.h"
#include "cache/storage_test_util.h"
#include "pjrt/test_plugins.h"

namespace torch_tpu::graph {
namespace {

using std::chrono::milliseconds;

std::atomic<int> g_lowered{0};

const ops::LoweringEntry& Negation() {
  static const ops::LoweringEntry entry = {"test::neg",
                                           [](ops::Call& c) {
                                             ++g_lowered;
                                             return ops::Results{shlo::negate(c.tensor(0))};
                                           },
                                           nullptr,
                                           {},
                                           __FILE__,
                                           __LINE__};
  return entry;
}

CallSpec Negate(int64_t size, DType dtype = DType::kF32) {
  CallSpec spec;
  spec.name = "test::neg";
  spec.key = {11, static_cast<uint64_t>(size), 0};
  spec.operands = {{dtype, {size}}};
  TensorSpec t;
  t.operand = 0;
  t.base = {dtype, {size}};
  t.dtype = dtype;
  t.sizes = {size};
  SubCall call;
  call.lowering = &Negation();
  call.args = {{t}};
  OutputSpec o;
  o.type = o.result = {dtype, {size}};
  call.outputs = {o};
  call.common = dtype;
  spec.calls = {call};
  return spec;
}

// A process, as far as the cache is concerned: a compiler with its tier 1 and its tiers.
class Process {
 public:
  explicit Process(std::shared_ptr<const pjrt::Client> client) : compiler_(client, tiers_) {}
  ~Process() { tiers_.Close(milliseconds(10000)); }
  cache::Tiers& tiers() { return tiers_; }
  Compiler& compiler() { return compiler_; }
  Status Compile(const CallSpec& spec) {
    const Status status = compiler_.Compile(spec).status();
    EXPECT_TRUE(tiers_.Flush(milliseconds(10000)));
    return status;
  }

 private:
  cache::Tiers tiers_;
  Compiler compiler_;
};

class CompilerTest : public ::testing::Test {
 protected:
  void SetUp() override { client_ = pjrt::OpenClient(pjrt::FakePluginPath()); }
  int64_t compiles() const { return fake_.call_count("PJRT_Client_Compile"); }
  int64_t loads() const { return fake_.call_count("PJRT_Executable_DeserializeAndLoad"); }

  // Compiles in a new process with tier 3 in the folder.
  void CompileWithTier3(const CallSpec& spec) {
    Process process(client_);
    ASSERT_TRUE(process.tiers().SetTier3(folder_.path()).ok());
    const Status status = process.Compile(spec);
    EXPECT_TRUE(status.ok()) << status.ToString();
    hits_ = process.tiers().tier3()->stats().hits;
    rejected_ = process.tiers().tier3()->stats().rejected;
  }
  std::string OnlyFile() const {
    std::string found;
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      if (file.path().extension() == ".tpuprog") found = file.path().string();
    }
    return found;
  }

  pjrt::FakeControls fake_;
  cache::TemporaryFolder folder_;
  std::shared_ptr<const pjrt::Client> client_;
  int64_t hits_ = 0, rejected_ = 0;
};

TEST_F(CompilerTest, ASecondProcessLoadsAndBuildsNoText) {
  CompileWithTier3(Negate(5));
  EXPECT_EQ(compiles(), 1);
  EXPECT_EQ(loads(), 0);
  const int lowered = g_lowered;
  CompileWithTier3(Negate(5));
  EXPECT_EQ(compiles(), 1);
  EXPECT_EQ(loads(), 1);
  EXPECT_EQ(hits_, 1);
  EXPECT_EQ(g_lowered, lowered);
  CompileWithTier3(Negate(6));
  EXPECT_EQ(compiles(), 2);
}

TEST_F(CompilerTest, DamageIsCompiledAnewAndRewritten) {
  CompileWithTier3(Negate(5));
  const std::string file = OnlyFile();
  const auto size = std::filesystem::file_size(file);
  std::filesystem::resize_file(file, size - 7);
  CompileWithTier3(Negate(5));
  EXPECT_EQ(compiles(), 2);
  EXPECT_EQ(rejected_, 1);
  EXPECT_EQ(std::filesystem::file_size(OnlyFile()), size);
  CompileWithTier3(Negate(5));
  EXPECT_EQ(compiles(), 2);
}

TEST_F(CompilerTest, WhatThePluginRefusesIsCompiledAnew) {
  CompileWithTier3(Negate(5));
  fake_.fail_next("PJRT_Executable_DeserializeAndLoad", 1, StatusCode::kInternal, "other version");
  CompileWithTier3(Negate(5));
  EXPECT_EQ(compiles(), 2);
  EXPECT_EQ(rejected_, 1);
}

TEST_F(CompilerTest, AProgramWithOtherTypesIsRefused) {
  CompileWithTier3(Negate(5));
  CompileWithTier3(Negate(5, DType::kF64));  // the same key, which must not happen
  EXPECT_EQ(rejected_, 1);
  EXPECT_EQ(compiles(), 2);
}

TEST_F(CompilerTest, WhatComesFromTier3IsPutIntoTier2) {
  CompileWithTier3(Negate(5));
  const cache::TemporaryFolder near;
  for (int i = 0; i < 2; ++i) {
    Process process(client_);
    ASSERT_TRUE(process.tiers().SetTier3(folder_.path()).ok());
    ASSERT_TRUE(process.tiers().SetTier2(near.path()).ok());
    ASSERT_TRUE(process.Compile(Negate(5)).ok());
    EXPECT_EQ(process.tiers().tier2()->stats().hits, i);
    EXPECT_EQ(process.tiers().tier3()->stats().hits, 1 - i);
  }
  EXPECT_EQ(compiles(), 1);
}

TEST_F(CompilerTest, APluginThatCannotSerializeTurnsTheTiersOff) {
  Process process(client_);
  ASSERT_TRUE(process.tiers().SetTier3(folder_.path()).ok());
  for (int i = 1; i <= 16; ++i) {
    EXPECT_NE(process.tiers().tier3(), nullptr);
    fake_.fail_next("PJRT_Executable_Serialize", 1, StatusCode::kUnimplemented, "cannot");
    ASSERT_TRUE(process.Compile(Negate(i)).ok());
  }
  EXPECT_EQ(process.tiers().tier3(), nullptr);
  ASSERT_TRUE(process.Compile(Negate(17)).ok());
  EXPECT_EQ(OnlyFile(), "");
}

// The CPU plugin's sorts, for one.
TEST_F(CompilerTest, AProgramThatCannotBeSerializedIsLeftOut) {
  Process process(client_);
  ASSERT_TRUE(process.tiers().SetTier3(folder_.path()).ok());
  fake_.fail_next("PJRT_Executable_Serialize", 1, StatusCode::kUnimplemented, "cannot");
  ASSERT_TRUE(process.Compile(Negate(5)).ok());
  EXPECT_EQ(OnlyFile(), "");
  ASSERT_TRUE(process.Compile(Negate(6)).ok());
  EXPECT_NE(OnlyFile(), "");
}

TEST_F(CompilerTest, AStorageThatNeverAnswersCostsNoMoreThanAMoment) {
  Process process(client_);
  auto storage = std::make_shared<cache::RemoteStorage>("memory://nobody-serves-it");
  process.tiers().SetTier3(storage);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 1; i <= 20; ++i) ASSERT_TRUE(process.compiler().Compile(Negate(i)).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(3000));
  EXPECT_EQ(compiles(), 20);
  storage->Close();
}

TEST_F(CompilerTest, ManyThreadsCompileAtOnce) {
  Process process(client_);
  ASSERT_TRUE(process.tiers().SetTier3(folder_.path()).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 1; i <= 25; ++i) EXPECT_TRUE(process.compiler().Compile(Negate(i)).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiles(), 25);
}

TEST_F(CompilerTest, ExplainsTheLastMiss) {
  Process process(client_);
  EXPECT_FALSE(process.compiler().ExplainLastMiss().has_value());
  ASSERT_TRUE(process.Compile(Negate(5)).ok());
  EXPECT_FALSE(process.compiler().ExplainLastMiss()->neighbour.has_value());
  ASSERT_TRUE(process.Compile(Negate(6)).ok());
  const auto why = process.compiler().ExplainLastMiss();
  EXPECT_EQ(why->components, std::vector<std::string>{"sizes"});
  EXPECT_EQ(why->neighbour->operands, "tensor<5xf32>");
  CallSpec debug = Negate(6);
  debug.debug = true;
  ASSERT_TRUE(process.Compile(debug).ok());
  const auto options = process.compiler().ExplainLastMiss();
  EXPECT_EQ(options->components, std::vector<std::string>{"options"});
  EXPECT_EQ(options->pieces, std::vector<std::string>{"checks"});
}

TEST_F(CompilerTest, EachOptionIsPartOfTheKeyAndTheirOrderIsNot) {
  const OptionsKey key(*client_);
  const CallSpec spec = Negate(5);
  pjrt::CompileOptions options;
  options.overrides = {{"a", int64_t{1}}, {"b", true}};
  const uint64_t first = key.Key(spec, options);
  pjrt::CompileOptions other;
  other.overrides["b"] = true;
  other.overrides["a"] = int64_t{1};
  EXPECT_EQ(key.Key(spec, other), first);
  other.overrides["a"] = int64_t{2};
  EXPECT_NE(key.Key(spec, other), first);
  CallSpec changed = spec;
  changed.target = ops::Target::kCpu;
  EXPECT_NE(key.Key(changed, options), first);
  changed = spec;
  changed.debug = true;
  EXPECT_NE(key.Key(changed, options), first);
  // Negation has no products: the user's precision is nothing to it.
  changed = spec;
  changed.precision = shlo::Precision::kHighest;
  EXPECT_EQ(key.Key(changed, options), first);
  static const ops::LoweringEntry product = {"test::mm",          nullptr,  nullptr,
                                             {.precision = true}, __FILE__, __LINE__};
  changed.calls[0].lowering = &product;
  EXPECT_NE(key.Key(changed, options), first);
}

}  // namespace
}  // namespace torch_tpu::graph
