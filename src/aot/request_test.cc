// Tests of the request format.
#include "aot/request.h"

#include <gtest/gtest.h>

namespace torch_tpu::aot {
namespace {

TEST(RequestTest, ReadsEveryField) {
  const auto request = ParseRequest(
      "# comment\n\nplugin\t/lib/x y.so\ntopology\tv5e:2x2\ntopology_option\tnum_slices\tint\t2\n"
      "option\tflag\tbool\t1\noption\ttext\tstring\t\noption\treal\treal\t0.5\nreplicas\t2\n"
      "partitions\t2\nspmd\t1\nshardy\t1\noptimization\t9\nmemory_fitting\t19\ntime_limit\t60\n"
      "device\t3\ndevice\t1\njob\ta\t/in/a.mlir\t/out/a\n");
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  EXPECT_EQ(request->plugin, "/lib/x y.so");
  EXPECT_EQ(request->topology, "v5e:2x2");
  EXPECT_EQ(std::get<int64_t>(request->topology_options.at("num_slices")), 2);
  EXPECT_EQ(std::get<bool>(request->options.overrides.at("flag")), true);
  EXPECT_EQ(std::get<std::string>(request->options.overrides.at("text")), "");
  EXPECT_EQ(std::get<double>(request->options.overrides.at("real")), 0.5);
  EXPECT_EQ(request->options.num_replicas, 2);
  EXPECT_EQ(request->options.num_partitions, 2);
  EXPECT_TRUE(request->options.use_spmd_partitioning);
  EXPECT_TRUE(request->options.use_shardy);
  EXPECT_EQ(request->options.device_assignment, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(request->effort.optimization, 9);
  EXPECT_EQ(request->effort.memory_fitting, 19);
  EXPECT_EQ(request->time_limit, 60);
  ASSERT_EQ(request->jobs.size(), 1u);
  EXPECT_EQ(request->jobs[0].module_path, "/in/a.mlir");
}

TEST(RequestTest, SaysWhatIsWrong) {
  const auto message = [](const char* text) { return ParseRequest(text).status().message(); };
  EXPECT_EQ(message("topology\tv5e\n"), "request: no plugin");
  EXPECT_EQ(message("plugin\tp\nreplicas\ttwo\n"),
            "request line 2 'replicas\ttwo': expected an integer");
  EXPECT_EQ(message("speed\t1\n"), "request line 1 'speed\t1': unknown field 'speed'");
  EXPECT_EQ(message("option\ta\tint\tx\n"),
            "request line 1 'option\ta\tint\tx': 'x' is no value of type 'int' (string, bool, int "
            "or real)");
}

}  // namespace
}  // namespace torch_tpu::aot
