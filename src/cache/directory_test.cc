// Tests of entries in a directory: private files, whole files, links and leftovers, pruning.
#include "cache/directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "cache/key_name.h"
#include "cache/prune.h"
#include "cache/storage_test_util.h"

namespace torch_tpu::cache {
namespace {

using Reading = Directory::Reading;
namespace fs = std::filesystem;

std::string PathOf(const std::string& root, const Key& key) {
  return root + "/" + KeyName(key) + ".tpuprog";
}

void SetAge(const std::string& path, int64_t seconds) {
  const timespec time{::time(nullptr) - seconds, 0};
  const timespec times[] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

std::shared_ptr<Directory> Open(const std::string& path, Reading reading = Reading::kCopy) {
  auto directory = Directory::Open(path, reading);
  EXPECT_TRUE(directory.ok()) << directory.status().ToString();
  return std::shared_ptr<Directory>(std::move(directory).value());
}

TEST(Directory, KeepsEntriesPrivateAndGivesThemBack) {
  const TemporaryFolder folder;
  const std::string root = folder.path() + "/new/deep";
  for (Reading reading : {Reading::kCopy, Reading::kMap}) {
    const auto directory = Open(root, reading);
    EXPECT_EQ(directory->Read({9, 9, 9}).status().code(), StatusCode::kNotFound);
    ASSERT_TRUE(directory->Write({1, 2, 3}, "first").ok());
    ASSERT_TRUE(directory->Write({1, 2, 3}, "second").ok());
    const auto blob = directory->Read({1, 2, 3});
    ASSERT_TRUE(blob.ok());
    EXPECT_EQ(blob->bytes, "second");
    ASSERT_TRUE(directory->Remove({1, 2, 3}).ok());
    EXPECT_EQ(blob->bytes, "second");  // a reader keeps what it has
    ASSERT_TRUE(directory->Remove({1, 2, 3}).ok());
    ASSERT_TRUE(directory->Write({1, 2, 3}, "third").ok());
  }
  struct stat info;
  ASSERT_EQ(stat(PathOf(root, {1, 2, 3}).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(root.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST(Directory, RefusesAFolderOfOthers) {
  const TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0777), 0);
  EXPECT_EQ(Directory::Open(folder.path(), Reading::kCopy).status().code(),
            StatusCode::kPermissionDenied);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  EXPECT_TRUE(Directory::Open(folder.path(), Reading::kCopy).ok());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder.path().c_str(), 12345, 12345), 0);
    EXPECT_EQ(Directory::Open(folder.path(), Reading::kCopy).status().code(),
              StatusCode::kPermissionDenied);
  }
}

TEST(Directory, SeesNoFilesOfOthersAndNoLinks) {
  const TemporaryFolder folder;
  const auto directory = Open(folder.path());
  const Key linked{1, 1, 1}, theirs{2, 2, 2};
  std::ofstream(folder.path() + "/target") << "bytes";
  fs::create_symlink(folder.path() + "/target", PathOf(folder.path(), linked));
  EXPECT_EQ(directory->Read(linked).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(directory->Write(theirs, "bytes").ok());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(PathOf(folder.path(), theirs).c_str(), 12345, 12345), 0);
    EXPECT_EQ(directory->Read(theirs).status().code(), StatusCode::kNotFound);
  }
  const auto files = directory->List();
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1u);
  EXPECT_TRUE(files->front().key == theirs);
  EXPECT_EQ(files->front().bytes, 5);
}

TEST(Directory, AReaderNeverSeesHalfAnEntry) {
  const TemporaryFolder folder;
  const Key key{3, 3, 3};
  const std::string entry = MakeEntry(key, 1 << 20);
  std::thread writer([&] {
    const auto directory = Open(folder.path());
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(directory->Write(key, entry).ok());
  });
  const auto directory = Open(folder.path(), Reading::kMap);
  int whole = 0;
  while (whole < 50) {
    const auto blob = directory->Read(key);
    if (!blob.ok()) continue;
    ASSERT_TRUE(DecodeEntry(blob->bytes, key).ok());
    ++whole;
  }
  writer.join();
}

TEST(Directory, RemovesLeftoversOfDeadWriters) {
  const TemporaryFolder folder;
  const auto directory = Open(folder.path());
  const std::string left = folder.path() + "/.tmp-1-2-x";
  std::ofstream(left) << "half";
  directory->RemoveLeftovers(600);
  EXPECT_TRUE(fs::exists(left));  // its writer may be at work
  EXPECT_TRUE(directory->List()->empty());
  SetAge(left, 700);
  directory->RemoveLeftovers(600);
  EXPECT_FALSE(fs::exists(left));
}

TEST(Directory, LookingIsNotUsing) {
  const TemporaryFolder folder;
  const Key key{1, 2, 3};
  ASSERT_TRUE(Open(folder.path())->Write(key, "bytes").ok());
  const auto age = [&] { return time(nullptr) - Open(folder.path())->List()->front().used; };
  SetAge(PathOf(folder.path(), key), 86400);
  ASSERT_TRUE(Open(folder.path(), Reading::kLook)->Read(key).ok());
  EXPECT_GE(age(), 86400);
  for (Reading reading : {Reading::kCopy, Reading::kMap}) {
    SetAge(PathOf(folder.path(), key), 86400);
    ASSERT_TRUE(Open(folder.path(), reading)->Read(key).ok());
    EXPECT_LT(age(), 86400);
  }
}

TEST(Prune, RemovesTheOldAndThenTheLeastRecentlyUsed) {
  const TemporaryFolder folder;
  const auto directory = Open(folder.path());
  for (uint64_t i = 1; i <= 5; ++i) {
    ASSERT_TRUE(directory->Write({i, 0, 0}, std::string(100, 'x')).ok());
    SetAge(PathOf(folder.path(), {i, 0, 0}), static_cast<int64_t>(i) * 86400);
  }
  // Reading is using: the oldest becomes the newest.
  ASSERT_TRUE(directory->Read({5, 0, 0}).ok());
  auto by_age = Prune(*directory, {0, 3 * 86400 + 3600}, time(nullptr));
  ASSERT_TRUE(by_age.ok());
  EXPECT_EQ(by_age->removed, 1);  // number 4
  EXPECT_EQ(by_age->kept, 4);
  EXPECT_FALSE(directory->Read({4, 0, 0}).ok());
  SetAge(PathOf(folder.path(), {5, 0, 0}), 10);
  auto by_size = Prune(*directory, {250, 0}, time(nullptr));
  ASSERT_TRUE(by_size.ok());
  EXPECT_EQ(by_size->removed, 2);
  EXPECT_EQ(by_size->removed_bytes, 200);
  EXPECT_EQ(by_size->kept_bytes, 200);
  EXPECT_TRUE(directory->Read({5, 0, 0}).ok());
  EXPECT_TRUE(directory->Read({1, 0, 0}).ok());
  EXPECT_FALSE(directory->Read({2, 0, 0}).ok());
}

}  // namespace
}  // namespace torch_tpu::cache
