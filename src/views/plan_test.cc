// Plans of the views that models use: short, and the same text a person would write.
#include <gtest/gtest.h>

#include "views/view.h"

namespace torch_tpu::views {
namespace {

std::string Text(const Base& base, const View& view) {
  Result<Plan> plan = MakePlan(base, view);
  return plan.ok() ? plan->ToString() : plan.status().ToString();
}

std::string Text(const Dims& base, const Dims& sizes, const Dims& strides, int64_t offset = 0) {
  return Text({DType::kF32, base}, {DType::kF32, sizes, strides, offset});
}

TEST(PlanTest, WholeAndReshape) {
  EXPECT_EQ(Text({2, 3}, {2, 3}, {3, 1}), "whole");
  EXPECT_EQ(Text({}, {}, {}), "whole");
  EXPECT_EQ(Text({2, 12}, {4, 6}, {6, 1}), "reshape[4, 6]");
  EXPECT_EQ(Text({6}, {1, 6}, {1, 1}), "reshape[1, 6]");
}

TEST(PlanTest, TransposesKeepTheRank) {
  EXPECT_EQ(Text({4, 6}, {6, 4}, {1, 6}), "transpose[1, 0]");
  EXPECT_EQ(Text({2, 3, 4, 5}, {2, 4, 5, 3}, {60, 5, 1, 20}), "transpose[0, 2, 3, 1]");
  EXPECT_EQ(Text({1, 3, 4, 5}, {1, 4, 5, 3}, {60, 5, 1, 20}), "transpose[0, 2, 3, 1]");
  // channels_last: the base holds N, H, W, C.
  EXPECT_EQ(Text({2, 4, 5, 3}, {2, 3, 4, 5}, {60, 1, 15, 3}), "transpose[0, 3, 1, 2]");
  EXPECT_EQ(Text({120}, {2, 4, 5, 3}, {60, 5, 1, 20}), "reshape[2, 3, 4, 5] transpose[0, 2, 3, 1]");
}

TEST(PlanTest, Slices) {
  EXPECT_EQ(Text({4, 6}, {6}, {1}, 12), "slice[1, 6]@[2, 0] reshape[6]");            // x[2]
  EXPECT_EQ(Text({4, 6}, {1, 6}, {6, 1}, 12), "slice[1, 6]@[2, 0]");                 // x[2:3]
  EXPECT_EQ(Text({4, 6}, {2, 4}, {1, 6}, 1), "slice[4, 2]@[0, 1] transpose[1, 0]");  // [:, 1:3].t()
  EXPECT_EQ(Text({4, 6}, {4, 3}, {6, 2}), "slice[4, 5]@[0, 0] slice[4, 3]/[1, 2]");  // [:, ::2]
  EXPECT_EQ(Text({4, 6}, {2, 2}, {12, 3}, 7), "slice[3, 4]@[1, 1] slice[2, 2]/[2, 3]");
  EXPECT_EQ(Text({2, 3, 4, 5}, {2, 2, 4, 5}, {60, 20, 5, 1}, 20), "slice[2, 2, 4, 5]@[0, 1, 0, 0]");
}

TEST(PlanTest, SliceThenMerge) {
  // x[:, 1:3] of (2, 5, 4) seen as (2, 8).
  EXPECT_EQ(Text({2, 5, 4}, {2, 8}, {20, 1}, 4), "reshape[2, 20] slice[2, 8]@[0, 4]");
}

TEST(PlanTest, PackedHeads) {
  // The second of three (4, 4) blocks of (2, 7, 48), as (batch, head, time, dim).
  EXPECT_EQ(Text({2, 7, 48}, {2, 4, 7, 4}, {336, 4, 48, 1}, 16),
            "slice[2, 7, 16]@[0, 0, 16] reshape[2, 7, 4, 4] transpose[0, 2, 1, 3]");
  // Three parts inside each head.
  EXPECT_EQ(Text({2, 7, 48}, {2, 4, 7, 4}, {336, 12, 48, 1}, 4),
            "reshape[2, 7, 4, 12] slice[2, 7, 4, 4]@[0, 0, 0, 4] transpose[0, 2, 1, 3]");
}

TEST(PlanTest, Broadcasts) {
  EXPECT_EQ(Text({3, 1}, {3, 4}, {1, 0}), "broadcast[3, 4]/[0, 1]");
  EXPECT_EQ(Text({3}, {2, 3}, {0, 1}), "broadcast[2, 3]/[1]");
  EXPECT_EQ(Text({}, {2, 3}, {0, 0}), "broadcast[2, 3]/[]");
  EXPECT_EQ(Text({4, 6}, {6, 5}, {1, 0}, 6), "slice[1, 6]@[1, 0] reshape[6] broadcast[6, 5]/[0]");
}

TEST(PlanTest, Diagonals) {
  EXPECT_EQ(Text({4, 4}, {4}, {5}), "reshape[16] slice[4]/[5]");
  EXPECT_EQ(Text({4, 4}, {3}, {5}, 1), "reshape[16] slice[11]@[1] slice[3]/[5]");
  EXPECT_EQ(Text({3, 4, 4}, {3, 4}, {16, 5}), "reshape[3, 16] slice[3, 4]/[1, 5]");
}

TEST(PlanTest, FlatParameters) {
  EXPECT_EQ(Text({1000}, {5, 7}, {7, 1}, 123), "slice[35]@[123] reshape[5, 7]");
  EXPECT_EQ(Text({1000}, {7, 5}, {1, 7}, 123), "slice[35]@[123] reshape[5, 7] transpose[1, 0]");
  EXPECT_EQ(Text({1000}, {5, 2}, {7, 1}, 125),
            "slice[30]@[125] pad[35] reshape[5, 7] slice[5, 2]/[1, 1]");
}

TEST(PlanTest, Windows) {
  EXPECT_EQ(Text({10}, {2, 3}, {4, 1}, 3), "slice[7]@[3] pad[8] reshape[2, 4] slice[2, 3]/[1, 1]");
  // Crosses a row: the offset is part of the program.
  EXPECT_EQ(Text({4, 6}, {5}, {1}, 4), "reshape[24] slice[5]@[4]");
  EXPECT_EQ(Text({10}, {4, 3}, {2, 1}), "gather[4, 3]/[2, 1]");
  EXPECT_EQ(Text({12}, {2, 2}, {3, 2}, 1), "slice[6]@[1] reshape[2, 3] slice[2, 2]/[1, 2]");
  EXPECT_EQ(Text({12}, {3, 2}, {3, 4}), "gather[3, 2]/[3, 4]");
}

TEST(PlanTest, DTypeViews) {
  const Base complex = {DType::kC64, {3, 2}};
  EXPECT_EQ(Text(complex, {DType::kF32, {3, 2, 2}, {4, 2, 1}, 0}), "split_complex[3, 2, 2]f32");
  EXPECT_EQ(Text(complex, {DType::kF32, {3, 2}, {4, 2}, 1}),  // imag
            "split_complex[3, 2, 2]f32 slice[3, 2, 1]@[0, 0, 1] reshape[3, 2]");
  EXPECT_EQ(Text({DType::kF32, {3, 2}}, {DType::kC64, {3}, {1}, 0}), "join_complex[3]complex<f32>");
  EXPECT_EQ(Text({DType::kF32, {3, 2}}, {DType::kS32, {3, 2}, {2, 1}, 0}), "bitcast[3, 2]i32");
  EXPECT_EQ(Text({DType::kF32, {3, 2}}, {DType::kU8, {3, 8}, {8, 1}, 0}),
            "bitcast[3, 2, 4]ui8 reshape[3, 8]");
  EXPECT_EQ(Text({DType::kU8, {80}}, {DType::kF32, {2, 3}, {3, 1}, 4}),
            "reshape[20, 4] bitcast[20]f32 slice[6]@[4] reshape[2, 3]");
  EXPECT_EQ(Text({DType::kU8, {5}}, {DType::kS32, {1}, {1}, 0}),
            "slice[4]/[1] reshape[1, 4] bitcast[1]i32");
  // Bytes become truth values last, so that a write leaves the bytes beside them alone.
  EXPECT_EQ(Text({DType::kU8, {8}}, {DType::kPred, {4}, {1}, 1}), "slice[4]@[1] bitcast[4]i1");
}

TEST(PlanTest, EmptyViews) {
  EXPECT_EQ(Text({5}, {0, 3}, {3, 1}, 5), "slice[0]/[1] reshape[0, 3]");
  EXPECT_EQ(Text({0, 3}, {0, 5}, {5, 1}), "reshape[0, 5]");
  EXPECT_EQ(Text({DType::kF32, {2, 2}}, {DType::kC64, {0}, {1}, 77}),
            "reshape[4] slice[0]/[1] reshape[0, 2] join_complex[0]complex<f32>");
}

TEST(PlanTest, OnlyViewsInsideTheBaseHavePlans) {
  const std::string tail = " of f32 over a base of tensor<2x3xf32>";
  const std::string want =
      "INVALID_ARGUMENT: view: expected sizes >= 0, strides >= 0 and all elements inside the base, "
      "got ";
  EXPECT_EQ(Text({2, 3}, {3}, {2}, 2), want + "sizes [3], strides [2], offset 2" + tail);
  EXPECT_EQ(Text({2, 3}, {3}, {-1}, 4), want + "sizes [3], strides [-1], offset 4" + tail);
  EXPECT_EQ(Text({2, 3}, {1}, {1}, -1), want + "sizes [1], strides [1], offset -1" + tail);
  EXPECT_EQ(Text({2, 3}, {-1}, {1}), want + "sizes [-1], strides [1], offset 0" + tail);
  const int64_t huge = int64_t{1} << 62;
  EXPECT_FALSE(MakePlan({DType::kF32, {4}}, {DType::kF32, {5, 5}, {huge, huge}, 0}).ok());
  EXPECT_FALSE(MakePlan({DType::kF32, {0}}, {DType::kF32, {}, {}, 0}).ok());
  EXPECT_FALSE(MakePlan({DType::kU8, {3}}, {DType::kS32, {1}, {1}, 0}).ok());
  EXPECT_FALSE(MakePlan({DType::kF32, {3}}, {DType::kInvalid, {1}, {1}, 0}).ok());
}

bool Overlapping(const Dims& base, const Dims& sizes, const Dims& strides) {
  return MakePlan({DType::kF32, base}, {DType::kF32, sizes, strides, 0}).value().overlapping;
}

TEST(PlanTest, Overlap) {
  EXPECT_TRUE(Overlapping({3}, {2, 3}, {0, 1}));
  EXPECT_TRUE(Overlapping({10}, {4, 3}, {2, 1}));
  EXPECT_TRUE(Overlapping({10}, {2, 2}, {3, 3}));
  EXPECT_TRUE(Overlapping({100}, {5, 4}, {3, 4}));   // 4 * 3 == 3 * 4
  EXPECT_FALSE(Overlapping({100}, {3, 3}, {3, 4}));  // interleaved, but all different
  EXPECT_FALSE(Overlapping({100}, {2, 3, 3}, {50, 3, 4}));
  EXPECT_FALSE(Overlapping({3}, {1, 3}, {0, 1}));
  EXPECT_FALSE(Overlapping({3}, {2, 0}, {0, 1}));
}

TEST(PlanTest, CoversBase) {
  const Base base = {DType::kF32, {2, 3}};
  EXPECT_TRUE(MakePlan(base, {DType::kF32, {3, 2}, {1, 3}, 0})->CoversBase());
  EXPECT_TRUE(MakePlan(base, {DType::kU8, {24}, {1}, 0})->CoversBase());
  EXPECT_FALSE(MakePlan(base, {DType::kF32, {3}, {1}, 0})->CoversBase());
  EXPECT_FALSE(MakePlan(base, {DType::kF32, {2, 3}, {0, 1}, 0})->CoversBase());
}

TEST(PlanTest, MoreDimsThanAnyBoxHas) {
  const Dims ones(70, 1);
  EXPECT_EQ(Text({6}, ones, ones, 2), "slice[1]@[2] reshape" + DimsToString(ones));
  // 70 overlapping dims of two elements, each one step apart.
  Result<Plan> plan = MakePlan({DType::kF32, {71}}, {DType::kF32, Dims(70, 2), ones, 0});
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->overlapping);
  EXPECT_EQ(plan->steps.back().kind, Step::kGather);
}

}  // namespace
}  // namespace torch_tpu::views
