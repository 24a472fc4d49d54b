// Tests of the hand-written CompileOptionsProto: bytes worked out from the wire format, and the
// checks.
#include "pjrt/compile_options.h"

#include <gtest/gtest.h>

namespace torch_tpu::pjrt {
namespace {

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (unsigned char c : bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[c >> 4];
    hex += kDigits[c & 15];
  }
  return hex;
}

// device_ordinal -1 is a varint of ten bytes.
constexpr char kOrdinal[] = "08ffffffffffffffffff01";

TEST(CompileOptionsTest, Defaults) {
  // 1a: executable_build_options, 15 bytes: ordinal, 20: num_replicas, 28: num_partitions.
  EXPECT_EQ(Hex(CompileOptions().Serialize()), std::string("1a0f") + kOrdinal + "20012801");
}

TEST(CompileOptionsTest, ReplicasAssignmentAndPartitioning) {
  CompileOptions options;
  options.num_replicas = 2;
  options.num_partitions = 2;
  options.device_ordinal = 0;
  options.device_assignment = {0, 1, 2, 300};
  options.use_spmd_partitioning = true;
  options.use_shardy = true;
  // Partition 0 runs on devices 0 and 2, partition 1 on devices 1 and 300.
  EXPECT_EQ(Hex(options.Serialize()),
            "1a1e"
            "0800"
            "2002"
            "2802"
            "3001"
            "4a11"
            "0802"
            "1002"
            "1a04"
            "0800"
            "0802"
            "1a05"
            "0801"
            "08ac02"
            "980101");
}

TEST(CompileOptionsTest, OverridesOfEachTypeInOrderOfTheirNames) {
  CompileOptions options;
  options.device_ordinal = 0;
  options.overrides = {{"d", 1.0}, {"a", std::string("x")}, {"c", int64_t{5}}, {"b", false}};
  EXPECT_EQ(Hex(options.Serialize()),
            "1a06"
            "0800"
            "2001"
            "2801"
            "3a08"
            "0a0161"
            "1203"
            "0a0178"
            "3a07"
            "0a0162"
            "1202"
            "1000"
            "3a07"
            "0a0163"
            "1202"
            "1805"
            "3a0e"
            "0a0164"
            "1209"
            "21000000000000f03f");
}

TEST(CompileOptionsTest, HintsAreOverridesThatOverridesReplace) {
  CompileOptions plain, hinted;
  plain.overrides = {{"a", int64_t{1}}, {"b", int64_t{2}}};
  hinted.overrides = {{"b", int64_t{2}}};
  hinted.hints = {{"a", int64_t{1}}, {"b", int64_t{9}}};
  EXPECT_EQ(Hex(hinted.Serialize()), Hex(plain.Serialize()));
}

TEST(CompileOptionsTest, CheckRefusesWhatWouldAbortXla) {
  EXPECT_TRUE(CompileOptions().Check().ok());
  CompileOptions none;
  none.num_replicas = 0;
  EXPECT_EQ(none.Check().ToString(),
            "INVALID_ARGUMENT: compile options: expected at least one replica and one partition, "
            "got 0 and 1");
  CompileOptions assignment;
  assignment.num_replicas = 2;
  assignment.device_assignment = {0, 1, 2};
  EXPECT_EQ(assignment.Check().ToString(),
            "INVALID_ARGUMENT: compile options: expected a device for each of 2 replicas of 1 "
            "partitions, got 3 devices");
  assignment.device_assignment = {0, 1};
  EXPECT_TRUE(assignment.Check().ok());
}

}  // namespace
}  // namespace torch_tpu::pjrt
