// Tests of tier 1: one compile a key, sharing between threads, eviction by use, failures.
#include "cache/tier1.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace torch_tpu::cache {
namespace {

struct Thing {
  int64_t bytes;
  uint64_t used;
  int64_t cache_bytes() const { return bytes; }
  uint64_t last_used() const { return used; }
};

Tier1<Thing>::Compile Make(int64_t bytes, uint64_t used, int* count) {
  return [=]() -> Result<std::shared_ptr<Thing>> {
    ++*count;
    return std::make_shared<Thing>(Thing{bytes, used});
  };
}

TEST(Tier1, CompilesOncePerKey) {
  Tier1<Thing> cache(100);
  int count = 0;
  auto a = cache.GetOrCompile({1, 2, 3}, Make(10, 1, &count));
  auto b = cache.GetOrCompile({1, 2, 3}, Make(10, 1, &count));
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->get(), b->get());
  EXPECT_EQ(count, 1);
  // Each of the three components matters.
  for (Key key : {Key{9, 2, 3}, Key{1, 9, 3}, Key{1, 2, 9}}) {
    ASSERT_TRUE(cache.GetOrCompile(key, Make(10, 1, &count)).ok());
  }
  EXPECT_EQ(count, 4);
  EXPECT_EQ(cache.stats().hits, 1);
  EXPECT_EQ(cache.stats().misses, 4);
  EXPECT_EQ(cache.stats().bytes, 40);
}

TEST(Tier1, EvictsTheLeastRecentlyUsed) {
  Tier1<Thing> cache(25);
  int count = 0;
  auto oldest = cache.GetOrCompile({1, 0, 0}, Make(10, 5, &count));
  auto kept = cache.GetOrCompile({2, 0, 0}, Make(10, 9, &count));
  auto newest = cache.GetOrCompile({3, 0, 0}, Make(10, 7, &count));
  EXPECT_EQ(cache.stats().entries, 2);
  EXPECT_EQ(cache.stats().evictions, 1);
  EXPECT_EQ((*oldest)->bytes, 10);  // its holder keeps it
  (void)cache.GetOrCompile({2, 0, 0}, Make(10, 9, &count));
  EXPECT_EQ(count, 3);  // still there
  (void)cache.GetOrCompile({1, 0, 0}, Make(10, 10, &count));
  EXPECT_EQ(count, 4);  // was gone
  cache.Clear();
  EXPECT_EQ(cache.stats().bytes, 0);
  EXPECT_EQ(cache.stats().entries, 0);
}

TEST(Tier1, HoldsNoMoreProgramsThanItsCap) {
  Tier1<Thing> cache(1000);
  int count = 0;
  for (uint64_t i = 0; i < 5; ++i) (void)cache.GetOrCompile({i, 0, 0}, Make(1, i, &count));
  EXPECT_EQ(cache.stats().entries, 5);
  cache.SetEntryCap(3);
  EXPECT_EQ(cache.stats().entries, 3);
  (void)cache.GetOrCompile({9, 0, 0}, Make(1, 9, &count));
  EXPECT_EQ(cache.stats().entries, 3);
  (void)cache.GetOrCompile({4, 0, 0}, Make(1, 10, &count));
  EXPECT_EQ(count, 6);  // the last ones are still there
}

TEST(Tier1, DoesNotKeepFailures) {
  Tier1<Thing> cache(100);
  auto failed = cache.GetOrCompile(
      {1, 1, 1}, []() -> Result<std::shared_ptr<Thing>> { return InvalidArgument("no"); });
  EXPECT_EQ(failed.status().message(), "no");
  int count = 0;
  EXPECT_TRUE(cache.GetOrCompile({1, 1, 1}, Make(1, 1, &count)).ok());
  EXPECT_EQ(count, 1);
}

TEST(Tier1, ThreadsShareOneCompile) {
  Tier1<Thing> cache(100);
  std::atomic<int> compiles{0};
  std::vector<std::thread> threads;
  std::vector<Thing*> seen(8);
  for (size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] {
      auto r = cache.GetOrCompile({7, 7, 7}, [&]() -> Result<std::shared_ptr<Thing>> {
        ++compiles;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::make_shared<Thing>(Thing{1, 1});
      });
      seen[i] = r->get();
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(compiles.load(), 1);
  for (Thing* t : seen) EXPECT_EQ(t, seen[0]);
}

}  // namespace
}  // namespace torch_tpu::cache
