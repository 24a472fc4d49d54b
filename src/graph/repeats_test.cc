// Tests of where a stream of calls is cut.
#include "graph/repeats.h"

#include <gtest/gtest.h>

#include <map>

namespace torch_tpu::graph {
namespace {

using Stream = std::vector<uint64_t>;
// Cut positions by the number of calls that had been added when they came.
using Cuts = std::map<int64_t, std::vector<int64_t>>;

// `n` hashes that occur nowhere else for another `family`.
Stream Distinct(int64_t n, uint64_t family) {
  Stream out;
  for (int64_t i = 0; i < n; ++i) out.push_back(family * 1'000'003 + static_cast<uint64_t>(i) * 97);
  return out;
}

Stream Times(const Stream& block, int times) {
  Stream out;
  for (int i = 0; i < times; ++i) out.insert(out.end(), block.begin(), block.end());
  return out;
}

Stream Join(std::initializer_list<Stream> parts) {
  Stream out;
  for (const Stream& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

Cuts Feed(Repeats& repeats, const Stream& stream) {
  Cuts cuts;
  for (uint64_t hash : stream) {
    if (const auto& now = repeats.Add(hash); !now.empty()) cuts[repeats.size()] = now;
  }
  return cuts;
}

Cuts CutsOf(const Stream& stream) {
  Repeats repeats;
  return Feed(repeats, stream);
}

TEST(Repeats, NoRepetitionNoCut) { EXPECT_EQ(CutsOf(Distinct(5000, 1)), Cuts{}); }

TEST(Repeats, ABlockIsCutOffWhenTheNextOneIsComplete) {
  EXPECT_EQ(CutsOf(Times(Distinct(12, 1), 4)), (Cuts{{24, {12}}, {36, {24}}, {48, {36}}}));
  EXPECT_EQ(CutsOf(Times(Distinct(30, 1), 3)), (Cuts{{60, {30}}, {90, {60}}}));
}

TEST(Repeats, TwiceIsNotYetComplete) {
  Stream almost = Times(Distinct(20, 1), 2);
  almost.pop_back();
  EXPECT_EQ(CutsOf(almost), Cuts{});
}

TEST(Repeats, ThePrologueIsCutOffByItself) {
  const Stream stream = Join({Distinct(5, 9), Times(Distinct(12, 1), 3)});
  EXPECT_EQ(CutsOf(stream), (Cuts{{29, {5, 17}}, {41, {29}}}));
}

TEST(Repeats, ShortPeriodsAreSentSeveralAtATime) {
  EXPECT_EQ(CutsOf(Times(Distinct(1, 1), 40)), (Cuts{{24, {12}}, {36, {24}}}));
  EXPECT_EQ(CutsOf(Times(Distinct(5, 1), 9)), (Cuts{{30, {15}}, {45, {30}}}));
  EXPECT_EQ(CutsOf(Times(Distinct(11, 1), 6)), (Cuts{{44, {22}}, {66, {44}}}));
}

// Blocks that hold a loop too short to send: the blocks are cut, all alike, and the loop is not.
TEST(Repeats, AShortLoopInsideABlockIsPartOfIt) {
  const Stream block = Join({Distinct(8, 1), Times(Distinct(2, 2), 10)});
  int64_t last = 0;
  int blocks = 0;
  for (const auto& [when, cuts] : CutsOf(Times(block, 8))) {
    for (int64_t cut : cuts) {
      EXPECT_EQ(cut - last, 28) << "cut at " << cut;
      EXPECT_LE(when - cut, 64) << "late";
      last = cut;
      ++blocks;
    }
  }
  EXPECT_GE(blocks, 5);
}

// A loop inside that is worth sending is cut itself, in each block at the same places.
TEST(Repeats, ALongLoopInsideABlockIsCutInEachAlike) {
  const Stream block = Join({Distinct(8, 1), Times(Distinct(2, 2), 20)});
  EXPECT_EQ(
      CutsOf(Times(block, 3)),
      (Cuts{
          {32, {8, 20}}, {44, {32}}, {80, {56, 68}}, {92, {80}}, {128, {104, 116}}, {140, {128}}}));
}

TEST(Repeats, TwoLoopsOneAfterTheOther) {
  const Stream stream = Join({Times(Distinct(12, 1), 4), Times(Distinct(13, 2), 3)});
  EXPECT_EQ(CutsOf(stream), (Cuts{{24, {12}}, {36, {24}}, {48, {36}}, {74, {48, 61}}, {87, {74}}}));
}

TEST(Repeats, AnInterruptedLoopGoesOnAfterwards) {
  const Stream block = Distinct(12, 1);
  const Stream stream = Join({Times(block, 3), Distinct(7, 2), Times(block, 3)});
  EXPECT_EQ(CutsOf(stream), (Cuts{{24, {12}}, {36, {24}}, {67, {43, 55}}, {79, {67}}}));
}

TEST(Repeats, ResetForgets) {
  Repeats repeats;
  Feed(repeats, Times(Distinct(12, 1), 3));
  EXPECT_EQ(repeats.period(), 12);
  repeats.Reset();
  EXPECT_EQ(repeats.period(), 0);
  EXPECT_EQ(repeats.size(), 0);
  EXPECT_EQ(Feed(repeats, Times(Distinct(12, 1), 2)), (Cuts{{24, {12}}}));
}

TEST(Repeats, PeriodEndsWithTheRepetition) {
  Repeats repeats;
  Feed(repeats, Times(Distinct(15, 1), 2));
  EXPECT_EQ(repeats.period(), 15);
  repeats.Add(424242);
  EXPECT_EQ(repeats.period(), 0);
}

}  // namespace
}  // namespace torch_tpu::graph
