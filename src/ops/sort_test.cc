// Programs of sorts and searches.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

TEST(SortTest, SortIsStableAndPutsNanLast) {
  TestCall c("aten::sort");
  c.Tensor(DType::kF32, {2, 5})
      .Int(-1)
      .Bool(false)
      .Out(DType::kF32, {2, 5})
      .Out(DType::kS64, {2, 5});
  const std::string text = c.Text();
  EXPECT_TRUE(Contains(text, "is_stable = true")) << text;
  EXPECT_TRUE(Contains(text, "dimension = 1 : i64")) << text;
  // b is NaN and a is not: a comes first.
  EXPECT_TRUE(Contains(text, "comparison_direction NE")) << text;
}

TEST(SortTest, IntegersNeedOneComparison) {
  TestCall c("aten::sort.stable");
  c.Tensor(DType::kS32, {5})
      .Bool(true)
      .Int(0)
      .Bool(true)
      .Out(DType::kS32, {5})
      .Out(DType::kS64, {5});
  EXPECT_EQ(c.Ops(), "iota sort compare convert");
}

TEST(SortTest, TopKIsASortedPrefix) {
  TestCall c("aten::topk");
  c.Tensor(DType::kS32, {5})
      .Int(2)
      .Int(-1)
      .Bool(true)
      .Bool(true)
      .Out(DType::kS32, {2})
      .Out(DType::kS64, {2});
  EXPECT_EQ(c.Ops(), "iota sort compare slice slice convert");
}

TEST(SortTest, SearchIsOneLoopWhateverTheLength) {
  std::string ops[2];
  for (int i = 0; i < 2; ++i) {
    TestCall c("aten::bucketize.Tensor");
    c.Tensor(DType::kF32, {7}).Tensor(DType::kF32, {i == 0 ? 3 : 100000}).Bool(false).Bool(true);
    ops[i] = c.Common(DType::kF32).Out(DType::kS64, {7}).Ops();
  }
  EXPECT_TRUE(Contains(ops[0], "while")) << ops[0];
  EXPECT_EQ(ops[0], ops[1]);
}

TEST(SortTest, RepeatInterleaveSaysThatItNeedsTheSize) {
  TestCall c("aten::repeat_interleave.Tensor");
  c.Tensor(DType::kS64, {3}).None();
  EXPECT_TRUE(Contains(c.Text(), "pass output_size=int(repeats.sum())")) << c.Text();
}

}  // namespace
}  // namespace torch_tpu::ops
