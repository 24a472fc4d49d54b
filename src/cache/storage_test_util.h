// For tests of storages: a folder that goes away, entries of any size.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cache/entry.h"

namespace torch_tpu::cache {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "torch_tpu_cache_XXXXXX").string();
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// An entry of `key` whose executable is `bytes` times a byte that the key decides.
inline std::string MakeEntry(const Key& key, size_t bytes = 100) {
  const std::string executable(bytes, static_cast<char>('a' + key.structure % 26));
  Entry entry;
  entry.key = key;
  entry.info.name = "test::op" + std::to_string(key.structure);
  entry.executable = executable;
  return EncodeEntry(entry);
}

}  // namespace torch_tpu::cache
