// IsWhole, DenseOrder and SplitOffset on layouts whose answers are known by hand.
#include "views/view.h"

#include <gtest/gtest.h>

namespace torch_tpu::views {
namespace {

bool Whole(const Dims& base, const Dims& sizes, const Dims& strides, int64_t offset = 0) {
  return IsWhole({DType::kF32, base}, DType::kF32, sizes, strides, offset);
}

TEST(IsWholeTest, RowMajorWithAnyGroupingOfDims) {
  EXPECT_TRUE(Whole({2, 3}, {2, 3}, {3, 1}));
  EXPECT_TRUE(Whole({2, 3}, {6}, {1}));
  EXPECT_TRUE(Whole({6}, {1, 3, 2}, {99, 2, 1}));
  EXPECT_TRUE(Whole({}, {}, {}));
  EXPECT_TRUE(Whole({}, {1, 1}, {7, 7}));
  EXPECT_TRUE(Whole({0, 3}, {3, 0}, {1, 1}, 5));
}

TEST(IsWholeTest, AnythingElseIsNot) {
  EXPECT_FALSE(Whole({2, 3}, {3, 2}, {1, 3}));
  EXPECT_FALSE(Whole({2, 3}, {1, 3}, {3, 1}));
  EXPECT_FALSE(Whole({2, 3}, {2, 3}, {3, 1}, 1));
  EXPECT_FALSE(Whole({3}, {3}, {0}));
  EXPECT_FALSE(Whole({3}, {0}, {1}));
  EXPECT_FALSE(IsWhole({DType::kF32, {3}}, DType::kS32, Dims{3}, Dims{1}, 0));
}

TEST(DenseOrderTest, ChannelsLast) {
  Dims memory;
  Dims order;
  ASSERT_TRUE(DenseOrder(Dims{2, 3, 4, 5}, Dims{60, 1, 15, 3}, &memory, &order));
  EXPECT_EQ(memory, (Dims{2, 4, 5, 3}));
  EXPECT_EQ(order, (Dims{0, 2, 3, 1}));
}

TEST(DenseOrderTest, SizeOneDimsStayWhateverTheirStride) {
  Dims memory;
  Dims order;
  ASSERT_TRUE(DenseOrder(Dims{1, 4, 6}, Dims{1, 1, 4}, &memory, &order));
  EXPECT_EQ(memory, (Dims{1, 6, 4}));
  EXPECT_EQ(order, (Dims{0, 2, 1}));
  ASSERT_TRUE(DenseOrder(Dims{4, 1, 6}, Dims{6, 100, 1}, &memory, &order));
  EXPECT_EQ(order, (Dims{0, 1, 2}));
}

TEST(DenseOrderTest, ScalarAndEmptyAreDense) {
  Dims memory = {9};
  Dims order = {9};
  ASSERT_TRUE(DenseOrder(Dims{}, Dims{}, &memory, &order));
  EXPECT_EQ(memory, Dims{});
  EXPECT_EQ(order, Dims{});
  ASSERT_TRUE(DenseOrder(Dims{3, 0}, Dims{0, 17}, &memory, &order));
  EXPECT_EQ(memory, (Dims{3, 0}));
}

TEST(DenseOrderTest, GapsAndBroadcastsAreNotDense) {
  Dims memory;
  Dims order;
  EXPECT_FALSE(DenseOrder(Dims{2, 3}, Dims{4, 1}, &memory, &order));
  EXPECT_FALSE(DenseOrder(Dims{2, 3}, Dims{0, 1}, &memory, &order));
  EXPECT_FALSE(DenseOrder(Dims{2, 3}, Dims{3, 3}, &memory, &order));
}

// The starts, or {-1} when the offset does not split.
std::vector<int64_t> Split(const Dims& base, const Dims& sizes, const Dims& strides,
                           int64_t offset) {
  std::vector<int64_t> starts;
  const bool split =
      SplitOffset({DType::kF32, base}, {DType::kF32, sizes, strides, offset}, &starts);
  if (split) return starts;
  EXPECT_TRUE(starts.empty());
  return {-1};
}

using Starts = std::vector<int64_t>;

TEST(SplitOffsetTest, OneStartForEachDimThatIsNotCovered) {
  EXPECT_EQ(Split({5, 6}, {6}, {1}, 18), Starts{3});             // x[3]
  EXPECT_EQ(Split({5, 6}, {5}, {6}, 2), Starts{2});              // x[:, 2]
  EXPECT_EQ(Split({5, 6}, {}, {}, 20), (Starts{3, 2}));          // x[3, 2]
  EXPECT_EQ(Split({5, 6}, {2, 3}, {12, 2}, 7), (Starts{1, 1}));  // x[1:5:2, 1::2]
  EXPECT_EQ(Split({2, 4, 99, 8}, {2, 4, 1, 8}, {3168, 792, 8, 1}, 80), Starts{10});  // a KV cache
  EXPECT_EQ(Split({5, 6}, {6, 5}, {1, 6}, 0), Starts{});                             // x.t()
}

TEST(SplitOffsetTest, FlatParameterNeedsNoAlignment) {
  EXPECT_EQ(Split({1000}, {5, 7}, {7, 1}, 123), Starts{123});
  EXPECT_EQ(Split({1000}, {7, 5}, {1, 7}, 123), Starts{123});
}

TEST(SplitOffsetTest, WindowsAndGathersStartAtTheOffset) {
  EXPECT_EQ(Split({10}, {2, 3}, {4, 1}, 3), Starts{3});  // x[3:].unfold(0, 3, 4)
  EXPECT_EQ(Split({10}, {4, 3}, {1, 1}, 2), Starts{2});  // overlapping
}

TEST(SplitOffsetTest, ABoxThatCrossesARowIsCutFromTheFlatBase) {
  EXPECT_EQ(Split({3, 6}, {4}, {1}, 2), (Starts{0, 2}));
  EXPECT_EQ(Split({3, 6}, {4}, {1}, 4), Starts{4});  // from row 0 into row 1
  bool wrapped = false;
  std::vector<int64_t> starts;
  EXPECT_TRUE(SplitOffset({DType::kF32, {3, 6}}, {DType::kF32, {4}, {1}, 4}, &starts, &wrapped));
  EXPECT_TRUE(wrapped);
  EXPECT_TRUE(SplitOffset({DType::kF32, {3, 6}}, {DType::kF32, {4}, {1}, 2}, &starts, &wrapped));
  EXPECT_FALSE(wrapped);
}

TEST(SplitOffsetTest, WholeAndOutsideDoNotSplit) {
  EXPECT_EQ(Split({3, 6}, {18}, {1}, 0), Starts{-1});
  EXPECT_EQ(Split({3, 6}, {6}, {1}, 13), Starts{-1});
  EXPECT_EQ(Split({3, 6}, {6}, {1}, -1), Starts{-1});
  EXPECT_EQ(Split({3, 6}, {4}, {-1}, 6), Starts{-1});
}

TEST(SplitOffsetTest, EmptyViewsSplitAnywhere) {
  EXPECT_EQ(Split({3}, {0}, {1}, 3), Starts{});
  EXPECT_EQ(Split({3}, {0, 4}, {4, 1}, 99), Starts{});
}

}  // namespace
}  // namespace torch_tpu::views
