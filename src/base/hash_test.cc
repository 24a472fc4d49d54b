// Tests of the word hash: order, count and boundaries matter, and structured keys do not collide.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <unordered_set>
#include <vector>

namespace torch_tpu {
namespace {

uint64_t HashOf(std::initializer_list<uint64_t> words) {
  Hasher hasher;
  for (uint64_t word : words) hasher.Add(word);
  return hasher.Finish();
}

TEST(HashTest, OrderCountAndSeedMatter) {
  EXPECT_EQ(HashOf({1, 2}), HashOf({1, 2}));
  EXPECT_NE(HashOf({1, 2}), HashOf({2, 1}));
  EXPECT_NE(HashOf({}), HashOf({0}));
  EXPECT_NE(HashOf({0}), HashOf({0, 0}));
  EXPECT_NE(Hasher(1).Add(uint64_t{5}).Finish(), Hasher(2).Add(uint64_t{5}).Finish());
}

TEST(HashTest, ListBoundariesMatter) {
  const std::vector<int64_t> a = {2, 3}, b = {4}, c = {2}, d = {3, 4};
  const auto two = [](const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
    return Hasher().Add(std::span(x)).Add(std::span(y)).Finish();
  };
  EXPECT_NE(two(a, b), two(c, d));
  const auto text = [](std::string_view x, std::string_view y) {
    return Hasher().Add(x).Add(y).Finish();
  };
  EXPECT_NE(text("ab", "c"), text("a", "bc"));
  EXPECT_NE(text("", "a"), text("a", ""));
  EXPECT_NE(text("12345678", ""), text("1234567", "8"));
}

TEST(HashTest, GridOfSmallWordsHasNoCollision) {
  std::unordered_set<uint64_t> seen;
  for (uint64_t x = 0; x < 100; ++x) {
    for (uint64_t y = 0; y < 100; ++y) {
      for (uint64_t z = 0; z < 100; ++z) seen.insert(HashOf({x, y, z}));
    }
  }
  EXPECT_EQ(seen.size(), 1000000u);
}

TEST(HashTest, OneInputBitFlipsHalfOfTheOutputBits) {
  int flipped = 0, samples = 0;
  for (uint64_t word : {uint64_t{0}, uint64_t{1}, uint64_t{224}, ~uint64_t{0}}) {
    for (int bit = 0; bit < 64; ++bit, ++samples) {
      flipped += std::popcount(HashOf({word, 7}) ^ HashOf({word ^ (uint64_t{1} << bit), 7}));
    }
  }
  EXPECT_NEAR(static_cast<double>(flipped) / samples, 32.0, 2.0);
}

}  // namespace
}  // namespace torch_tpu
