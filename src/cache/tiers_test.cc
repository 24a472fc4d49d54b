// Tests of which tiers are on, of background work and of remote storages.
#include "cache/tiers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "cache/directory.h"
#include "cache/remote.h"
#include "cache/storage_test_util.h"

namespace torch_tpu::cache {
namespace {

using std::chrono::milliseconds;

std::string DirectoryFor(const std::string& name, int64_t world_size) {
  env::Settings settings;
  settings.tier2_cache = name;
  settings.world_size = world_size;
  return Tier2Directory(settings);
}

TEST(Tier2, IsOnInDistributedProgramsUnlessTheUserSaysOtherwise) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "this host has no /dev/shm";
  const std::string root = "/dev/shm/torch_tpu-" + std::to_string(geteuid());
  EXPECT_EQ(DirectoryFor("", 1), "");
  EXPECT_EQ(DirectoryFor("", 0), "");
  EXPECT_EQ(DirectoryFor("", 2), root + "/programs");
  EXPECT_EQ(DirectoryFor("disabled", 8), "");
  EXPECT_EQ(DirectoryFor("mine", 1), root + "/mine");
  EXPECT_EQ(DirectoryFor("mine", 8), root + "/mine");
  EXPECT_EQ(DirectoryFor("/a/path", 1), "/a/path");
  for (const char* name : {"a/b", "../../etc", ".", ".."}) EXPECT_EQ(DirectoryFor(name, 8), "");
}

TEST(Tier3, KnowsUrlsFromPaths) {
  EXPECT_TRUE(IsUrl("gs://bucket/programs"));
  EXPECT_TRUE(IsUrl("memory://x"));
  EXPECT_FALSE(IsUrl("/a/path"));
  EXPECT_FALSE(IsUrl("file:///a/path"));
}

TEST(StoredTier, RejectsDamageAndCounts) {
  const TemporaryFolder folder;
  auto directory = Directory::Open(folder.path(), Directory::Reading::kCopy);
  ASSERT_TRUE(directory.ok());
  StoredTier tier("tier 3", std::move(directory).value(), {});
  const Key key{1, 2, 3};
  EXPECT_FALSE(tier.Read(key));
  std::string damaged = MakeEntry(key);
  damaged.back() ^= 1;
  tier.Write(key, damaged);
  EXPECT_FALSE(tier.Read(key));
  EXPECT_TRUE(tier.storage().List()->empty());  // it is gone
  tier.Write(key, MakeEntry(key));
  const auto found = tier.Read(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->entry.info.name, "test::op1");
  tier.CountHit(*found);
  EXPECT_EQ(tier.stats().misses, 2);
  EXPECT_EQ(tier.stats().rejected, 1);
  EXPECT_EQ(tier.stats().hits, 1);
  EXPECT_EQ(tier.stats().writes, 2);
}

TEST(StoredTier, StaysWithinItsLimit) {
  const TemporaryFolder folder;
  auto directory = Directory::Open(folder.path(), Directory::Reading::kCopy);
  ASSERT_TRUE(directory.ok());
  constexpr int64_t kLimit = 100'000;
  StoredTier tier("tier 3", std::move(directory).value(), {kLimit, 0});
  for (uint64_t i = 0; i < 100; ++i) tier.Write({i, 0, 0}, MakeEntry({i, 0, 0}, 5000));
  int64_t bytes = 0;
  const auto files = tier.storage().List();
  for (const StoredFile& file : *files) bytes += file.bytes;
  EXPECT_GT(bytes, kLimit / 2);
  EXPECT_LE(bytes, kLimit + kLimit / 16 + 6000);
  EXPECT_GT(tier.stats().pruned, 70);
}

TEST(WorkQueue, DrainsWithinALimitAndDropsWhatIsTooMuch) {
  WorkQueue queue(1, 2);
  std::atomic<bool> go{false};
  std::atomic<int> done{0};
  const auto job = [&] {
    while (!go) std::this_thread::sleep_for(milliseconds(1));
    ++done;
  };
  EXPECT_TRUE(queue.Add(job));
  while (queue.pending() > 0 && !queue.Add(job)) std::this_thread::yield();
  EXPECT_FALSE(queue.Drain(milliseconds(20)));
  int accepted = 0;
  for (int i = 0; i < 10; ++i) accepted += queue.Add(job);
  EXPECT_LE(accepted, 2);
  go = true;
  EXPECT_TRUE(queue.Drain(milliseconds(5000)));
  EXPECT_EQ(done, 2 + accepted);
}

TEST(RemoteStorage, AnswersComeFromTheThreadThatServes) {
  RemoteStorage storage("memory://x");
  const Key key{1, 2, 3};
  std::thread server([&] {
    std::string kept;
    while (auto request = storage.Next()) {
      RemoteStorage::Answer answer;
      if (request->verb == RemoteStorage::Request::kWrite) kept = request->bytes;
      if (request->verb == RemoteStorage::Request::kRead) {
        if (kept.empty()) answer.status = NotFound("nothing");
        answer.bytes = kept;
      }
      storage.Finish(request->id, std::move(answer));
    }
  });
  EXPECT_EQ(storage.Read(key).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(storage.Write(key, "bytes").ok());
  EXPECT_EQ(storage.Read(key)->bytes, "bytes");
  EXPECT_EQ(*RemoteStorage::KeyOf(RemoteStorage::FileName(key)) == key, true);
  storage.Close();
  server.join();
  EXPECT_FALSE(storage.Read(key).ok());
}

TEST(RemoteStorage, ClosingFreesThoseWhoWait) {
  RemoteStorage storage("memory://x");
  std::thread reader([&] { EXPECT_FALSE(storage.Read({1, 1, 1}).ok()); });
  std::this_thread::sleep_for(milliseconds(5));
  storage.Close();
  reader.join();
}

}  // namespace
}  // namespace torch_tpu::cache
