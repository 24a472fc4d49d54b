// A million generated calls: different ones have different keys, part by part and jointly.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cache/make_key.h"
#include "cache/sha256.h"
#include "graph/options_key.h"
#include "pjrt/test_plugins.h"

namespace torch_tpu::graph {
namespace {

using Words = std::vector<uint64_t>;

// A hash and the canonical text that it stands for, by a digest of 64 other bits.
struct Sample {
  uint64_t key;
  uint64_t text;
  bool operator<(const Sample& other) const {
    return key != other.key ? key < other.key : text < other.text;
  }
};

uint64_t Canonical(const std::string& text) {
  const cache::Digest digest = cache::Sha256(text);
  uint64_t word;
  static_assert(sizeof word <= sizeof digest);
  std::copy_n(digest.begin(), 8, reinterpret_cast<uint8_t*>(&word));
  return word;
}

std::string TextOf(const Words& words) {
  return {reinterpret_cast<const char*>(words.data()), 8 * words.size()};
}

// Keys that stand for more than one text, and the number of different texts.
std::pair<int64_t, int64_t> Collisions(std::vector<Sample> samples) {
  std::sort(samples.begin(), samples.end());
  int64_t collisions = 0, texts = samples.empty() ? 0 : 1;
  for (size_t i = 1; i < samples.size(); ++i) {
    const bool same_key = samples[i].key == samples[i - 1].key;
    const bool same_text = samples[i].text == samples[i - 1].text;
    collisions += same_key && !same_text;
    texts += !(same_key && same_text);
  }
  return {collisions, texts};
}

// Regions as programs make them: a few operators, each with tags, flags, links to earlier results
// and small attributes; sizes that recur. Half of them are a neighbour of the last one, with one
// word changed, swapped, added or left out, which is where a weak hash fails.
class Generator {
 public:
  void Next(Words* structure, Words* sizes) {
    if (random_() % 2 == 0 && !structure->empty())
      return Disturb(random_() % 2 ? structure : sizes);
    structure->clear();
    sizes->clear();
    const uint64_t operators = 1 + random_() % 12;
    for (uint64_t i = 0; i < operators; ++i) {
      structure->push_back(random_() % 400);  // operator
      const uint64_t tensors = 1 + random_() % 3;
      for (uint64_t t = 0; t < tensors; ++t) {
        const uint64_t rank = random_() % 5;
        structure->push_back(1 | (random_() % 16) << 8 | (random_() % 12) << 16 | rank << 32);
        structure->push_back(random_() % (i + 2));  // which earlier result
        for (uint64_t d = 0; d < rank; ++d) sizes->push_back(uint64_t{1} << random_() % 13);
      }
      if (random_() % 3 == 0) structure->push_back(static_cast<uint64_t>(-1) - random_() % 4);
    }
  }

 private:
  void Disturb(Words* words) {
    if (words->empty()) return words->push_back(random_() % 4);
    const size_t at = random_() % words->size();
    switch (random_() % 4) {
      case 0:
        (*words)[at] ^= uint64_t{1} << random_() % 64;
        break;
      case 1:
        std::swap((*words)[at], words->back());
        break;
      case 2:
        words->push_back(0);
        break;
      default:
        words->erase(words->begin() + static_cast<int64_t>(at));
    }
  }
  std::mt19937_64 random_{20};
};

TEST(Keys, AMillionGraphsHaveDifferentKeys) {
  constexpr int kGraphs = 1'000'000;
  std::vector<Sample> structures, sizes, joint;
  for (auto* list : {&structures, &sizes, &joint}) list->reserve(kGraphs);
  Generator generator;
  Words structure_words, size_words;
  for (int i = 0; i < kGraphs; ++i) {
    generator.Next(&structure_words, &size_words);
    const cache::Key key = cache::MakeKey("aten::region", structure_words, size_words);
    const uint64_t structure = Canonical(TextOf(structure_words));
    const uint64_t size = Canonical(TextOf(size_words));
    structures.push_back({key.structure, structure});
    sizes.push_back({key.sizes, size});
    joint.push_back({cache::KeyHash()(key), structure * 31 + size});
  }
  const auto [structure_collisions, structure_texts] = Collisions(std::move(structures));
  const auto [size_collisions, size_texts] = Collisions(std::move(sizes));
  const auto [joint_collisions, joint_texts] = Collisions(std::move(joint));
  EXPECT_EQ(structure_collisions, 0);
  EXPECT_EQ(size_collisions, 0);
  EXPECT_EQ(joint_collisions, 0);
  // The sample is what it says: nearly all differ.
  EXPECT_GT(joint_texts, kGraphs * 9 / 10);
  EXPECT_GT(structure_texts, kGraphs / 2);
  EXPECT_GT(size_texts, kGraphs / 2);
}

TEST(Keys, ManyOptionsHaveDifferentKeys) {
  const auto client = pjrt::OpenClient(pjrt::FakePluginPath());
  const OptionsKey options_key(*client);
  CallSpec spec;
  std::set<uint64_t> keys;
  int64_t texts = 0;
  for (int64_t level = 0; level < 10; ++level) {
    for (int64_t flag = 0; flag < 1000; ++flag) {
      for (bool debug : {false, true}) {
        pjrt::CompileOptions options;
        options.overrides["xla_flag_" + std::to_string(flag)] = level;
        spec.debug = debug;
        keys.insert(options_key.Key(spec, options));
        ++texts;
      }
    }
  }
  EXPECT_EQ(static_cast<int64_t>(keys.size()), texts);
}

}  // namespace
}  // namespace torch_tpu::graph
