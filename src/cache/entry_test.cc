// Tests of stored programs: nothing but a whole entry of this format and key is accepted.
#include "cache/entry.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "cache/checksum.h"
#include "cache/key_name.h"

namespace torch_tpu::cache {
namespace {

constexpr Key kKey{1, 2, 0xabcdef0123456789};
constexpr size_t kHeaderBytes = 96, kChecksumAt = 88;

Entry Sample() {
  Entry entry;
  entry.key = kKey;
  entry.text_hash = Sha256("module {}");
  entry.info.name = "aten::add.Tensor";
  entry.info.operands = "f32[2,3], s64[]";
  entry.info.pieces = {{"plugin", "cpu"}, {"lowerings", "0123"}};
  entry.info.checks = {"index out of range", "singular"};
  entry.info.check_is_index = {true, false};
  entry.info.reports_completion = false;
  entry.info.interface = 77;
  entry.info.text_bytes = 1234;
  entry.info.compile_microseconds = 5678;
  entry.info.created = 1700000000;
  entry.executable = "machine code";
  return entry;
}

// Makes the checksum right again, as an enemy would.
void Reseal(std::string* bytes) {
  if (bytes->size() < kHeaderBytes) return;
  std::memset(bytes->data() + kChecksumAt, 0, 8);
  const std::string_view all(*bytes);
  const uint64_t sum = Checksum(all.substr(kHeaderBytes), Checksum(all.substr(0, kHeaderBytes)));
  std::memcpy(bytes->data() + kChecksumAt, &sum, 8);
}

std::string Refusal(const std::string& bytes) {
  const auto entry = DecodeEntry(bytes, kKey);
  EXPECT_EQ(entry.status().code(), entry.ok() ? StatusCode::kOk : StatusCode::kDataLoss);
  return entry.status().message();
}

TEST(Entry, ComesBackAsItWas) {
  const std::string bytes = EncodeEntry(Sample());
  const auto entry = DecodeEntry(bytes, kKey);
  ASSERT_TRUE(entry.ok()) << entry.status().ToString();
  const ProgramInfo& info = entry->info;
  EXPECT_TRUE(entry->key == kKey);
  EXPECT_EQ(entry->text_hash, Sha256("module {}"));
  EXPECT_EQ(info.name, "aten::add.Tensor");
  EXPECT_EQ(info.operands, "f32[2,3], s64[]");
  EXPECT_EQ(info.pieces, (Pieces{{"plugin", "cpu"}, {"lowerings", "0123"}}));
  EXPECT_EQ(info.checks, (std::vector<std::string>{"index out of range", "singular"}));
  EXPECT_EQ(info.check_is_index, (std::vector<bool>{true, false}));
  EXPECT_FALSE(info.reports_completion);
  EXPECT_EQ(info.interface, 77u);
  EXPECT_EQ(info.text_bytes, 1234);
  EXPECT_EQ(info.compile_microseconds, 5678);
  EXPECT_EQ(info.created, 1700000000);
  EXPECT_EQ(entry->executable, "machine code");
}

TEST(Entry, SaysWhatIsWrong) {
  const std::string good = EncodeEntry(Sample());
  std::string bad = good;
  EXPECT_NE(Refusal("").find("too short"), std::string::npos);
  EXPECT_NE(Refusal(good.substr(0, good.size() - 1)).find("length"), std::string::npos);
  EXPECT_NE(Refusal(good + "x").find("length"), std::string::npos);
  bad[0] = 'X';
  EXPECT_NE(Refusal(bad).find("something else"), std::string::npos);
  bad = good;
  bad[8] = 99;  // the version
  EXPECT_NE(Refusal(bad).find("format version 99"), std::string::npos);
  bad = good;
  bad.back() ^= 1;
  EXPECT_NE(Refusal(bad).find("checksum"), std::string::npos);
  Entry other = Sample();
  other.key.sizes = 3;
  EXPECT_NE(Refusal(EncodeEntry(other)).find("of the key"), std::string::npos);
}

TEST(Entry, LengthsAreCheckedBeforeAnythingIsAllocated) {
  // With a right checksum, and lengths and counts that would take all memory.
  const std::string good = EncodeEntry(Sample());
  for (size_t at = 72; at + 8 <= good.size(); ++at) {
    if (at == kChecksumAt) continue;
    std::string bad = good;
    std::memset(bad.data() + at, 0x7f, 8);
    Reseal(&bad);
    (void)DecodeEntry(bad, kKey);
  }
  std::string bad = good;
  std::memset(bad.data() + kHeaderBytes, 0xff, 8);  // length of the name
  Reseal(&bad);
  EXPECT_NE(Refusal(bad).find("does not parse"), std::string::npos);
}

TEST(Entry, TenThousandMutationsAreRefused) {
  const std::string good = EncodeEntry(Sample());
  std::mt19937_64 random(1);
  int parsed = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string bad = good;
    const int edits = 1 + static_cast<int>(random() % 4);
    for (int e = 0; e < edits; ++e) {
      const size_t at = random() % bad.size();
      switch (random() % 4) {
        case 0:
          bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
          break;
        case 1:
          bad.resize(std::max<size_t>(at, 1));
          break;
        case 2:
          bad.insert(at, std::string(random() % 40, static_cast<char>(random())));
          break;
        default:
          bad.replace(at, std::min<size_t>(8, bad.size() - at), 8, static_cast<char>(random()));
      }
    }
    if (bad == good) continue;
    EXPECT_FALSE(DecodeEntry(bad, kKey).ok()) << "mutation " << i;
    // An enemy's entry may parse. It must neither crash nor read beyond its bytes.
    Reseal(&bad);
    parsed += DecodeEntry(bad).ok();
  }
  EXPECT_GT(parsed, 0);
}

TEST(KeyName, ComesBackAndTakesNothingElse) {
  const std::string name = "0000000000000001-0000000000000002-abcdef0123456789";
  EXPECT_EQ(KeyName(kKey), name);
  ASSERT_TRUE(ParseKeyName(name).has_value());
  EXPECT_TRUE(*ParseKeyName(name) == kKey);
  EXPECT_FALSE(ParseKeyName(""));
  EXPECT_FALSE(ParseKeyName(name + "0"));
  EXPECT_FALSE(ParseKeyName("0000000000000001-0000000000000002-ABCDEF0123456789"));
  EXPECT_FALSE(ParseKeyName("0000000000000001_0000000000000002-abcdef0123456789"));
  EXPECT_FALSE(ParseKeyName("000000000000000x-0000000000000002-abcdef0123456789"));
}

}  // namespace
}  // namespace torch_tpu::cache
