// Programs whose results have a size known only afterwards: nonzero and its relatives, unique.
#include <gtest/gtest.h>

#include "ops/index_padded.h"
#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

const TensorType kCount{DType::kS64, {}};

TEST(IndexMaskTest, NonzeroIsPaddedAndCounted) {
  TestCall c("aten::nonzero");
  c.Tensor(DType::kPred, {2, 3});
  const std::string text = c.Text();
  EXPECT_EQ(c.outs(), (std::vector<TensorType>{{DType::kS64, {6, 2}}, kCount})) << text;
  EXPECT_TRUE(Contains(text, "stablehlo.scatter")) << text;
}

TEST(IndexMaskTest, MaskedSelectBroadcasts) {
  TestCall c("aten::masked_select");
  c.Tensor(DType::kF32, {4, 1}).Tensor(DType::kPred, {3});
  EXPECT_FALSE(c.Text().starts_with("error"));
  EXPECT_EQ(c.outs(), (std::vector<TensorType>{{DType::kF32, {12}}, kCount}));
}

TEST(IndexMaskTest, UniqueGivesOnlyWhatIsAskedFor) {
  TestCall c("aten::_unique2");
  c.Tensor(DType::kF32, {2, 3}).Bool(true).Bool(true).Bool(false);
  EXPECT_FALSE(c.Text().starts_with("error"));
  EXPECT_EQ(c.outs(), (std::vector<TensorType>{
                          {DType::kF32, {6}}, {DType::kS64, {2, 3}}, {DType::kS64, {0}}, kCount}));
}

TEST(IndexMaskTest, SortingRowsIsOneLoopWhateverTheWidth) {
  TestCall narrow("aten::unique_dim"), wide("aten::unique_dim");
  narrow.Tensor(DType::kF32, {4, 2}).Int(0).Bool(true).Bool(true).Bool(true);
  wide.Tensor(DType::kF32, {4, 50}).Int(0).Bool(true).Bool(true).Bool(true);
  const std::string ops = narrow.Ops();
  EXPECT_TRUE(Contains(ops, "while")) << ops;
  EXPECT_EQ(ops, wide.Ops());
}

TEST(IndexMaskTest, EveryPaddedOperatorGivesItsOwnShapes) {
  int padded = 0;
  for (const LoweringEntry* entry : AllLowerings()) {
    if (PaddedOutputs(entry->name).empty()) continue;
    ++padded;
    EXPECT_NE(entry->options.shape, nullptr) << entry->name;
  }
  EXPECT_EQ(padded, 7);
  EXPECT_TRUE(PaddedOutputs("aten::sort").empty());
}

}  // namespace
}  // namespace torch_tpu::ops
