// Tests of SHA-256 against the vectors of FIPS 180-4, and of the stored checksum.
#include "cache/sha256.h"

#include <gtest/gtest.h>

#include "cache/checksum.h"

namespace torch_tpu::cache {
namespace {

TEST(Sha256, KnownVectors) {
  EXPECT_EQ(HexOf(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HexOf(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // 56 bytes: the length does not fit into the first block.
  EXPECT_EQ(HexOf(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(HexOf(Sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Checksum, SeesEveryBitAndEveryByte) {
  const std::string bytes(100, 'x');
  const uint64_t whole = Checksum(bytes);
  EXPECT_NE(whole, Checksum(bytes, 1));
  EXPECT_NE(whole, Checksum(bytes + '\0'));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string other = bytes;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(whole, Checksum(other)) << bit;
  }
}

TEST(Checksum, StoredValuesDoNotChange) {
  EXPECT_EQ(Checksum(""), 11089140942802872527ull);
  EXPECT_EQ(Checksum("The quick brown fox jumps over the lazy dog"), 2244688774639499395ull);
}

}  // namespace
}  // namespace torch_tpu::cache
