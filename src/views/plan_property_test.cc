// Random views: plans against direct strided access, for reads and writes, and the promises of
// SplitOffset.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "views/random_view_test_util.h"
#include "views/view.h"

namespace torch_tpu::views {
namespace {

using testing::Array;
using testing::DirectRead;
using testing::DirectWrite;
using testing::RandomViews;

std::string Describe(const Base& base, const View& view) {
  return "base " + std::string(DTypeName(base.dtype)) + DimsToString(base.dims) + " view " +
         std::string(DTypeName(view.dtype)) + DimsToString(view.sizes) + " strides " +
         DimsToString(view.strides) + " offset " + std::to_string(view.offset);
}

bool TouchesTwice(const View& view) {
  std::set<int64_t> seen;
  bool twice = false;
  testing::ForEachIndex(view.sizes, [&](const Dims& index) {
    twice |= !seen.insert(testing::Position(index, view.strides)).second;
  });
  return twice;
}

TEST(PlanPropertyTest, ReadsAndWritesAgreeWithDirectAccess) {
  RandomViews random(20240607);
  std::map<int, int> kinds;
  int writes = 0;
  for (int i = 0; i < 20000; ++i) {
    const Base base = random.RandomBase();
    const View view = random.RandomView(base);
    SCOPED_TRACE(Describe(base, view));
    Result<Plan> plan = MakePlan(base, view);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    SCOPED_TRACE(plan->ToString());
    for (const Step& step : plan->steps) ++kinds[step.kind];

    const Array data = random.RandomArray(base.dtype, base.dims);
    const Array want = DirectRead(data, view);
    ASSERT_EQ(testing::Read(*plan, data).bytes, want.bytes);
    ASSERT_EQ(plan->steps.empty() ? base.dims : plan->steps.back().dims, view.sizes);

    ASSERT_EQ(plan->overlapping, TouchesTwice(view));
    if (plan->overlapping && plan->steps.back().kind == Step::kBroadcast) continue;
    ++writes;
    const Array update = random.RandomArray(view.dtype, view.sizes);
    const Array written = DirectWrite(data, view, update);
    ASSERT_EQ(testing::Write(*plan, data, update).bytes, written.bytes);
    if (plan->CoversBase()) {
      ASSERT_EQ(NumElements(view.sizes) * DTypeSize(view.dtype),
                NumElements(base.dims) * DTypeSize(base.dtype));
    }
  }
  // Every kind of step was tried.
  EXPECT_EQ(kinds.size(), 10u);
  EXPECT_GT(writes, 10000);
}

TEST(PlanPropertyTest, OneProgramForAllOffsetsThatSplit) {
  RandomViews random(7);
  int splits = 0;
  int wraps = 0;
  for (int i = 0; i < 4000; ++i) {
    const Base base = random.RandomBase();
    View view = random.RandomView(base);
    std::vector<Step> steps[2];  // of offsets that do not wrap, and of those that do
    size_t num_starts[2] = {0, 0};
    bool first[2] = {true, true};
    for (view.offset = 0;; ++view.offset) {
      SCOPED_TRACE(Describe(base, view));
      Result<Plan> plan = MakePlan(base, view);
      std::vector<int64_t> starts = {-7};
      bool wrapped = false;
      const bool split = SplitOffset(base, view, &starts, &wrapped);
      ASSERT_EQ(starts[0], -7);
      starts.erase(starts.begin());
      if (!plan.ok()) {
        ASSERT_FALSE(split);
        ASSERT_TRUE(starts.empty());
        break;
      }
      ASSERT_EQ(plan->dynamic, split);
      if (split) {
        ++splits;
        ASSERT_EQ(plan->starts, starts);
        wraps += wrapped;
        if (first[wrapped]) steps[wrapped] = plan->steps;
        if (first[wrapped]) num_starts[wrapped] = starts.size();
        first[wrapped] = false;
        ASSERT_EQ(plan->steps, steps[wrapped]);
        ASSERT_EQ(starts.size(), num_starts[wrapped]);
      } else {
        ASSERT_TRUE(starts.empty());
        ASSERT_TRUE(IsWhole(base, view.dtype, view.sizes, view.strides, view.offset));
      }
      if (NumElements(view.sizes) == 0 && view.offset > 3) break;
    }
  }
  EXPECT_GT(splits, 10000);
  EXPECT_GT(wraps, 1000);
}

TEST(PlanPropertyTest, DenseOrderIsTheInverseOfATranspose) {
  RandomViews random(99);
  int dense = 0;
  for (int i = 0; i < 5000; ++i) {
    const Base base = random.RandomBase();
    const View view = random.RandomView(base);
    Dims memory;
    Dims order;
    const bool is_dense = DenseOrder(view.sizes, view.strides, &memory, &order);
    int64_t last = 0;
    for (size_t d = 0; d < view.sizes.size(); ++d) last += (view.sizes[d] - 1) * view.strides[d];
    const int64_t elements = NumElements(view.sizes);
    SCOPED_TRACE(Describe(base, view));
    ASSERT_EQ(is_dense, elements == 0 || (!TouchesTwice(view) && last == elements - 1));
    if (!is_dense) continue;
    ++dense;
    const Dims strides = ContiguousStrides(memory);
    for (size_t d = 0; d < order.size(); ++d) {
      ASSERT_EQ(memory[d], view.sizes[order[d]]);
      if (memory[d] > 1 && elements > 0) {
        ASSERT_EQ(strides[d], view.strides[order[d]]);
      }
    }
  }
  EXPECT_GT(dense, 1000);
}

}  // namespace
}  // namespace torch_tpu::views
