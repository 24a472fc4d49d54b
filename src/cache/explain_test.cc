// Tests of what is said about a miss.
#include "cache/explain.h"

#include <gtest/gtest.h>

#include "cache/directory.h"
#include "cache/storage_test_util.h"

namespace torch_tpu::cache {
namespace {

using Words = std::vector<std::string>;

Described Program(const Key& key, const std::string& name, const std::string& operands,
                  const std::string& plugin = "cpu", const std::string& precision = "medium") {
  return {key, name, operands, {{"plugin", plugin}, {"precision", precision}}};
}

TEST(Explain, NamesTheComponentThatDiffers) {
  const Described miss = Program({1, 2, 3}, "aten::add", "f32[2]");
  EXPECT_EQ(Explain(miss, {}).components, Words{});
  EXPECT_EQ(Explain(miss, {miss}).neighbour, std::nullopt);  // the miss itself is no neighbour
  EXPECT_EQ(Explain(miss, {Program({1, 9, 3}, "aten::add", "f32[5]")}).components, Words{"sizes"});
  EXPECT_EQ(Explain(miss, {Program({9, 2, 3}, "aten::mul", "f32[2]")}).components,
            Words{"structure"});
  const auto why = Explain(miss, {Program({1, 2, 9}, "aten::add", "f32[2]", "libtpu")});
  EXPECT_EQ(why.components, Words{"options"});
  EXPECT_EQ(why.pieces, Words{"plugin"});
  EXPECT_EQ(why.text,
            "aten::add(f32[2]) was compiled: options differs from the nearest known program, "
            "aten::add(f32[2]); plugin is 'cpu', there 'libtpu'");
}

TEST(Explain, TakesTheNearestProgram) {
  const Described miss = Program({1, 2, 3}, "aten::add", "f32[2]");
  const Described far = Program({8, 8, 3}, "aten::sub", "f32[7]");
  const Described same_sizes = Program({7, 2, 3}, "aten::mul", "f32[2]");
  const Described same_call = Program({1, 9, 3}, "aten::add", "f32[5]");
  EXPECT_EQ(Explain(miss, {far, same_sizes, same_call}).neighbour->operands, "f32[5]");
  EXPECT_EQ(Explain(miss, {same_call, same_sizes, far}).neighbour->operands, "f32[5]");
  // A precision that the operator declares is in its structure too; the program is still nearest.
  const Described other = Program({5, 2, 6}, "aten::add", "f32[2]", "cpu", "high");
  EXPECT_EQ(Explain(miss, {far, other}).pieces, Words{"precision"});
}

TEST(Explain, FindsNeighboursInAStorage) {
  const TemporaryFolder folder;
  auto directory = Directory::Open(folder.path(), Directory::Reading::kCopy);
  ASSERT_TRUE(directory.ok());
  for (const Key& key : {Key{1, 9, 3}, Key{8, 8, 8}}) {
    ASSERT_TRUE((*directory)->Write(key, MakeEntry(key)).ok());
  }
  std::vector<Described> known;
  AddStoredNeighbours(Program({1, 2, 3}, "test::op1", ""), **directory, &known);
  ASSERT_EQ(known.size(), 1u);  // the other has nothing in common
  EXPECT_EQ(known[0].name, "test::op1");
}

TEST(Journal, RemembersTheLastMiss) {
  Journal journal;
  EXPECT_FALSE(journal.last_miss());
  journal.AddMiss(Program({1, 1, 1}, "aten::add", ""));
  journal.AddKnown(Program({2, 2, 2}, "aten::mul", ""));
  EXPECT_EQ(journal.last_miss()->name, "aten::add");
  EXPECT_EQ(journal.known().size(), 2u);
}

}  // namespace
}  // namespace torch_tpu::cache
