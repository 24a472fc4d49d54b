// Tests of tier 2 between processes: one compiler a key, and nothing lost when it is killed.
#include "cache/key_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "cache/directory.h"
#include "cache/storage_test_util.h"
#include "cache/stored_tier.h"

namespace torch_tpu::cache {
namespace {

using std::chrono::microseconds;

// Memory that forked children share with the test.
struct Shared {
  std::atomic<int> compiles{0};
  std::atomic<int> ready{0};
};

Shared* MakeShared() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (memory) Shared;
}

// What Compiler::Miss does with tier 2, with a "compile" of `work`. True: a whole entry was there
// or was written.
bool GetOrCompile(const std::string& root, const Key& key, microseconds work, Shared* shared) {
  auto directory = Directory::Open(root, Directory::Reading::kMap);
  auto locks = KeyLocks::Open(root);
  if (!directory.ok() || !locks.ok()) return false;
  StoredTier tier("tier 2", std::move(directory).value(), {}, std::move(locks).value());
  if (tier.Read(key)) return true;
  while (!tier.locks()->TryLock(key)) {
    std::this_thread::sleep_for(microseconds(200));
    if (tier.Read(key)) return true;
  }
  if (tier.Read(key)) return true;
  shared->compiles.fetch_add(1);
  std::this_thread::sleep_for(work);
  tier.Write(key, MakeEntry(key, 64 << 10));
  tier.locks()->Unlock(key);
  return tier.Read(key).has_value() && tier.stats().rejected == 0;
}

template <typename Body>
pid_t Fork(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  return child;
}

bool Succeeded(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(KeyLocks, ExcludeOtherProcessesKeyByKey) {
  const TemporaryFolder folder;
  auto mine = KeyLocks::Open(folder.path());
  ASSERT_TRUE(mine.ok());
  ASSERT_TRUE((*mine)->TryLock({1, 1, 1}));
  const auto other_gets = [&](const Key& key) {
    return Succeeded(Fork([&] {
      auto locks = KeyLocks::Open(folder.path());
      return locks.ok() && (*locks)->TryLock(key);
    }));
  };
  EXPECT_FALSE(other_gets({1, 1, 1}));
  EXPECT_TRUE(other_gets({1, 1, 2}));
  (*mine)->Unlock({1, 1, 1});
  EXPECT_TRUE(other_gets({1, 1, 1}));
}

TEST(KeyLocks, OneOfManyProcessesCompiles) {
  const TemporaryFolder folder;
  Shared* shared = MakeShared();
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(Fork([&] {
      shared->ready.fetch_add(1);
      while (shared->ready.load() < 8) std::this_thread::yield();
      return GetOrCompile(folder.path(), {5, 5, 5}, microseconds(20000), shared);
    }));
  }
  for (pid_t child : children) EXPECT_TRUE(Succeeded(child));
  EXPECT_EQ(shared->compiles.load(), 1);
}

// A process is killed at a random moment of its work while another waits for the same program.
TEST(KeyLocks, SurviveTwoHundredKills) {
  const TemporaryFolder folder;
  Shared* shared = MakeShared();
  std::mt19937 random(7);
  int killed_at_work = 0;
  for (uint64_t round = 0; round < 200; ++round) {
    const Key key{round, 1, 2};
    const pid_t victim = Fork(
        [&] { return GetOrCompile(folder.path(), key, microseconds(random() % 3000), shared); });
    std::this_thread::sleep_for(microseconds(random() % 4000));
    const pid_t waiter =
        Fork([&] { return GetOrCompile(folder.path(), key, microseconds(100), shared); });
    std::this_thread::sleep_for(microseconds(random() % 1500));
    kill(victim, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(victim, &status, 0), victim);
    killed_at_work += WIFSIGNALED(status);
    // No stuck lock, and a whole program.
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(Succeeded(waiter)) << "round " << round;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    auto directory = Directory::Open(folder.path(), Directory::Reading::kMap);
    ASSERT_TRUE(directory.ok());
    const auto blob = (*directory)->Read(key);
    ASSERT_TRUE(blob.ok());
    EXPECT_EQ(blob->bytes, MakeEntry(key, 64 << 10));
  }
  EXPECT_GT(killed_at_work, 20);
  // Leftovers have other names than programs: nobody reads them, and pruning takes them away.
  auto directory = Directory::Open(folder.path(), Directory::Reading::kMap);
  EXPECT_EQ((*directory)->List()->size(), 200u);
  (*directory)->RemoveLeftovers(-1);
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_FALSE(file.path().filename().string().starts_with(".tmp-")) << file.path();
  }
}

}  // namespace
}  // namespace torch_tpu::cache
