// Tests of a whole job, of HLO reading and of its figures, on the fake plugin and on modules
// written here.
#include "aot/compile_job.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "aot/hlo_analysis.h"
#include "aot/json.h"
#include "aot/live_buffers.h"
#include "aot/origins.h"
#include "pjrt/test_plugins.h"

namespace torch_tpu::aot {
namespace {

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class RunJobTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("aot_") + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // result.json of a module compiled for "fake:1".
  std::string Run(const std::string& module) {
    std::ofstream(folder_ / "m.mlir") << module;
    auto plugin = pjrt::Plugin::Load(pjrt::FakePluginPath());
    EXPECT_TRUE(plugin.ok());
    auto topology = pjrt::Topology::Create(*plugin, "fake:1");
    EXPECT_TRUE(topology.ok());
    const Status status =
        RunJob(**topology, {}, {"job", (folder_ / "m.mlir").string(), folder_.string()});
    EXPECT_TRUE(status.ok()) << status.ToString();
    return Read(folder_ / "result.json");
  }

  std::filesystem::path folder_;
};

TEST_F(RunJobTest, WritesEverything) {
  const std::string json =
      Run("module @m { func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>) {} }");
  for (const char* part :
       {R"("status":"OK")", R"("argument":16)", R"("estimated_cycles":25)",
        R"("op_name":"aten::clone")", R"("source_line":7)", R"("fingerprint":"66616b65")"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
  EXPECT_EQ(Read(folder_ / "optimized.hlo"),
            "HloModule fake_module\n\nENTRY %main {\n  %p = f32[4] parameter(0)\n"
            "  ROOT %copy.1 = f32[4] copy(%p), metadata={op_name=\"aten::clone\" "
            "source_file=\"model.py\" source_line=7}, estimated_cycles=25\n}\n");
  EXPECT_FALSE(Read(folder_ / "executable.bin").empty());
}

TEST_F(RunJobTest, RefusesBeforeCompiling) {
  EXPECT_NE(Run("tensor<?xf32>").find(R"("status":"INVALID_ARGUMENT")"), std::string::npos);
  EXPECT_NE(Run("mhlo.num_replicas = 2").find("the topology has 1 devices"), std::string::npos);
}

HloShape Array(std::vector<int64_t> dims) {
  HloShape shape;
  shape.element_type = 11;  // f32
  shape.dims = std::move(dims);
  return shape;
}

HloInstruction Make(int64_t id, const char* opcode, HloShape shape,
                    std::vector<int64_t> operands = {}) {
  HloInstruction i;
  i.id = id;
  i.name = std::string(opcode) + "." + std::to_string(id);
  i.opcode = opcode;
  i.shape = std::move(shape);
  i.operands = std::move(operands);
  if (i.opcode == "parameter") i.parameter_number = 0;
  return i;
}

HloModule Entry(std::vector<HloInstruction> instructions, int64_t root) {
  HloModule module;
  module.name = "m";
  module.entry_id = 1;
  module.computations.push_back({1, "main", root, false, false, std::move(instructions)});
  return module;
}

TEST(HloShapeTest, BytesIncludeTilePadding) {
  HloShape shape = Array({5, 130});
  EXPECT_EQ(shape.Bytes(), 5 * 130 * 4);
  shape.minor_to_major = {1, 0};
  shape.tiles = {{8, 128}};
  EXPECT_EQ(shape.Bytes(), 8 * 256 * 4);
  EXPECT_EQ(shape.ToString(), "f32[5,130]{1,0:T(8,128)}");
  shape.minor_to_major = {0, 1};
  shape.memory_space = 1;
  EXPECT_EQ(shape.Bytes(), 128 * 136 * 4);
  EXPECT_EQ(shape.ToString(), "f32[5,130]{0,1:T(8,128)S(1)}");
}

TEST(LivePeakTest, TemporariesDieAndOutputsStay) {
  // p -> a -> b -> c; a dies after b, so the peak has p, c and two of the others.
  const HloModule module =
      Entry({Make(1, "parameter", Array({256})), Make(2, "sort", Array({1024}), {1}),
             Make(3, "sort", Array({512}), {2}), Make(4, "sort", Array({128}), {3})},
            4);
  const LivePeak peak = FindLivePeak(module);
  EXPECT_EQ(peak.bytes, (256 + 1024 + 512 + 128) * 4);
  ASSERT_NE(peak.at, nullptr);
  EXPECT_EQ(peak.at->id, 3);
  ASSERT_EQ(peak.buffers.size(), 4u);
  EXPECT_EQ(peak.buffers[0].instruction->id, 2);
  EXPECT_EQ(peak.buffers[3].kind, BufferKind::kOutput);
}

TEST(LivePeakTest, UpdatesAndDonationAddNothing) {
  HloModule module = Entry(
      {Make(1, "parameter", Array({256})), Make(2, "dynamic-update-slice", Array({256}), {1, 1}),
       Make(3, "bitcast", Array({256}), {2}), Make(4, "add", Array({256}), {3, 3})},
      4);
  EXPECT_EQ(FindLivePeak(module).bytes, 2 * 1024);
  module.aliased_parameters[0] = 0;
  EXPECT_EQ(FindLivePeak(module).bytes, 1024);
}

TEST(LivePeakTest, OnChipMemoryDoesNotCount) {
  HloShape on_chip = Array({4096});
  on_chip.memory_space = 1;
  const HloModule module = Entry({Make(1, "parameter", Array({256})), Make(2, "add", on_chip, {1}),
                                  Make(3, "add", Array({256}), {2})},
                                 3);
  EXPECT_EQ(FindLivePeak(module).bytes, 2 * 1024);
}

TEST(FiguresTest, SumsCyclesAndPlacesCollectives) {
  HloInstruction start = Make(2, "all-gather-start", Array({512}), {1});
  start.replica_groups = "{{0,1}}";
  HloInstruction work = Make(3, "fusion", Array({256}), {1});
  work.estimated_cycles = 40;
  HloInstruction unknown = Make(4, "fusion", Array({256}), {3});
  unknown.estimated_cycles = std::numeric_limits<int64_t>::max();
  HloInstruction call = Make(6, "custom-call", Array({256}), {4});
  call.custom_call_target = "TopK";
  const HloModule module = Entry({Make(1, "parameter", Array({256})), start, work, unknown,
                                  Make(5, "all-gather-done", Array({512}), {2}), call},
                                 6);
  const HloFigures figures = ReadFigures(module);
  EXPECT_EQ(figures.instructions, 6);
  EXPECT_EQ(figures.fusions, 2);
  EXPECT_EQ(figures.estimated_cycles, 40);
  EXPECT_EQ(figures.unknown_cycles, 1);
  EXPECT_EQ(figures.custom_calls, 1);
  EXPECT_EQ(figures.custom_call_targets, std::vector<std::string>{"TopK"});
  ASSERT_EQ(figures.collectives.size(), 1u);
  EXPECT_EQ(figures.collectives[0].start, 1);
  EXPECT_EQ(figures.collectives[0].done, 4);
  EXPECT_EQ(figures.collectives[0].bytes, 1024);
}

TEST(OriginsTest, MetadataComeFromOperandsAndFusions) {
  HloInstruction named = Make(2, "sort", Array({256}), {1});
  named.op_name = "aten::sort";
  HloModule module = Entry({Make(1, "parameter", Array({256})), named,
                            Make(3, "copy", Array({256}), {2}), Make(4, "iota", Array({256}))},
                           3);
  const Origins origins(module);
  const auto& list = module.computations[0].instructions;
  EXPECT_EQ(origins.Of(list[2]).op_name, "aten::sort");
  EXPECT_EQ(&origins.Of(list[3]), &list[3]);
}

TEST(ParseHloTest, RefusesWhatIsNone) {
  EXPECT_EQ(ParseHlo("x", "mlir").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseHlo("", "hlo").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseHlo(std::string("\x0a\x7fshort", 7), "hlo").status().code(),
            StatusCode::kInvalidArgument);
}

TEST(JsonTest, EscapesAndMendsText) {
  JsonWriter json;
  json.BeginObject().Field("a", "q\"\\\n\xff\xc3\xa9").Field("n", int64_t{-3});
  json.Field("x", 0.5).Field("inf", 1.0 / 0.0).Key("l").BeginArray().Bool(true).Integer(1);
  json.EndArray().EndObject();
  EXPECT_EQ(json.text(),
            "{\"a\":\"q\\\"\\\\\\u000a?\xc3\xa9\",\"n\":-3,\"x\":0.5,\"inf\":null,\"l\":[true,1]}");
}

}  // namespace
}  // namespace torch_tpu::aot
