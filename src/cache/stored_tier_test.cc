// Tests of tiers on damaged folders: whatever lies there, only whole entries of the key are taken.
#include "cache/stored_tier.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "cache/directory.h"
#include "cache/key_name.h"
#include "cache/storage_test_util.h"

namespace torch_tpu::cache {
namespace {

using Reading = Directory::Reading;
using Random = std::mt19937_64;
namespace fs = std::filesystem;

std::unique_ptr<StoredTier> OpenTier(const std::string& folder, Reading reading) {
  auto directory = Directory::Open(folder, reading);
  EXPECT_TRUE(directory.ok()) << directory.status().ToString();
  return std::make_unique<StoredTier>("tier", std::move(directory).value(), Limits{});
}

std::string PathOf(const std::string& folder, const Key& key) {
  return folder + "/" + KeyName(key) + ".tpuprog";
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// One edit: a bit, the end, bytes more, bytes over others, a block of zeros, a block from
// elsewhere.
void Edit(Random& random, std::string* bytes) {
  const size_t at = bytes->empty() ? 0 : random() % bytes->size();
  const size_t block = std::min<size_t>(random() % 64, bytes->size() - at);
  switch (bytes->empty() ? 2 : random() % 6) {
    case 0:
      (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << random() % 8));
      break;
    case 1:
      bytes->resize(at);
      break;
    case 2:
      bytes->insert(at, std::string(1 + random() % 64, static_cast<char>(random())));
      break;
    case 3:
      bytes->replace(at, block, block, static_cast<char>(random()));
      break;
    case 4:
      // What a file system leaves that lost power between the name and the bytes.
      bytes->replace(at, std::string::npos, bytes->size() - at, '\0');
      break;
    default:
      bytes->replace(at, block, bytes->substr(random() % bytes->size(), block));
  }
}

class Damage : public ::testing::Test {
 protected:
  // Files of keys that look alike, each damaged in its own way, then read by their names.
  void ReadMutations(Reading reading, int rounds, uint64_t seed) {
    constexpr uint64_t kFiles = 100;
    const TemporaryFolder folder;
    const auto tier = OpenTier(folder.path(), reading);
    Random random(seed);
    std::vector<std::string> files(kFiles);
    int64_t damaged = 0;
    for (int round = 0; round < rounds; ++round) {
      for (uint64_t i = 0; i < kFiles; ++i) {
        std::string bytes = MakeEntry(KeyOf(i), 20 + 7 * i);
        // Whole entries of neighbours are the files that an own checksum does not betray.
        if (random() % 8 == 0) bytes = MakeEntry(KeyOf(random() % kFiles), 20 + 7 * i);
        for (uint64_t edits = random() % 4; edits > 0; --edits) Edit(random, &bytes);
        WriteFile(PathOf(folder.path(), KeyOf(i)), bytes);
        files[i] = bytes;
      }
      for (uint64_t i = 0; i < kFiles; ++i) {
        const std::string path = PathOf(folder.path(), KeyOf(i));
        const std::string good = MakeEntry(KeyOf(i), 20 + 7 * i);
        const bool whole = files[i] == good;
        const auto found = tier->Read(KeyOf(i));
        ASSERT_EQ(found.has_value(), whole) << path << ", round " << round << ", seed " << seed;
        EXPECT_EQ(fs::exists(path), whole);  // nobody reads it a second time
        if (found) {
          EXPECT_EQ(found->blob.bytes, good);
        }
        damaged += !whole;
      }
      // A damaged program is written again and read.
      tier->Write(KeyOf(0), MakeEntry(KeyOf(0)));
      ASSERT_TRUE(tier->Read(KeyOf(0)));
    }
    EXPECT_EQ(tier->stats().rejected, damaged);
    EXPECT_EQ(tier->stats().errors, 0);
    EXPECT_GT(damaged, rounds * 50);
    EXPECT_LT(damaged, rounds * 99);
  }

  static Key KeyOf(uint64_t i) { return {i, 0, i % 2}; }
};

TEST_F(Damage, FiveThousandMutatedFilesThatAreCopied) { ReadMutations(Reading::kCopy, 50, 1); }

TEST_F(Damage, FiveThousandMutatedFilesThatAreMapped) { ReadMutations(Reading::kMap, 50, 2); }

TEST_F(Damage, OtherKindsOfFilesAreNotReadAndGiveWay) {
  for (Reading reading : {Reading::kCopy, Reading::kMap}) {
    const TemporaryFolder folder;
    const auto tier = OpenTier(folder.path(), reading);
    const std::string target = folder.path() + "/target";
    for (uint64_t i = 0; i < 5; ++i) {
      const std::string path = PathOf(folder.path(), KeyOf(i));
      WriteFile(target, MakeEntry(KeyOf(i)));
      if (i == 0) fs::create_symlink(target, path);
      if (i == 1) fs::create_symlink(folder.path() + "/nothing", path);
      if (i == 2) {
        ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // reading it would wait for ever
      }
      if (i == 3) WriteFile(path, "");
      if (i == 4) {
        WriteFile(path, MakeEntry(KeyOf(i)));
        ASSERT_EQ(truncate(path.c_str(), kMaxEntryBytes + 1), 0);  // takes no room on the disk
      }
      EXPECT_FALSE(tier->Read(KeyOf(i))) << i;
      tier->Write(KeyOf(i), MakeEntry(KeyOf(i)));
      EXPECT_TRUE(tier->Read(KeyOf(i))) << i;
    }
    EXPECT_EQ(tier->storage().List()->size(), 5u);
  }
}

TEST_F(Damage, NamesThatAreNotKeysAreNotListed) {
  const TemporaryFolder folder;
  const auto tier = OpenTier(folder.path(), Reading::kCopy);
  Random random(3);
  tier->Write(KeyOf(1), MakeEntry(KeyOf(1)));
  const std::string good = KeyName(KeyOf(1)) + ".tpuprog";
  for (int i = 0; i < 200; ++i) {
    std::string name = good;
    Edit(random, &name);
    std::erase(name, '/');
    std::erase(name, '\0');
    if (name.empty() || name == good || name.size() > 200 || name.starts_with('.')) continue;
    if (ParseKeyName(name.substr(0, name.rfind('.')))) continue;  // another key
    WriteFile(folder.path() + "/" + name, "bytes");
  }
  ASSERT_EQ(tier->storage().List()->size(), 1u);
  EXPECT_TRUE(tier->Read(KeyOf(1)));
}

}  // namespace
}  // namespace torch_tpu::cache
