// Storage in a directory of the local file system or of one that is mounted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/storage.h"

namespace torch_tpu::cache {

class Directory : public Storage {
 public:
  enum class Reading { kCopy, kMap, kLook };

  // Makes the directory (mode 0700) where it does not exist. Fails when it belongs to somebody else
  // or others may write into it: entries are machine code. kMap is for file systems of this host in
  // memory: reading copies nothing. kLook is for people: a program that is read is not used.
  static Result<std::unique_ptr<Directory>> Open(const std::string& path, Reading reading);
  ~Directory() override;

  std::string description() const override { return path_; }
  bool is_slow() const override { return is_slow_; }
  // Files that belong to somebody else and anything that is not a regular file count as not there.
  Result<Blob> Read(const Key& key) override;
  // Into a temporary file (mode 0600) that is then renamed.
  Status Write(const Key& key, std::string_view bytes) override;
  Status Remove(const Key& key) override;
  Result<std::vector<StoredFile>> List() override;
  void RemoveLeftovers() override { RemoveLeftovers(kLeftoverSeconds); }
  void RemoveLeftovers(int64_t older_than_seconds);

  int fd() const { return fd_; }

 private:
  // A writer that has not renamed its file by then is dead.
  static constexpr int64_t kLeftoverSeconds = 600;

  Directory(std::string path, int fd, Reading reading, bool is_slow)
      : path_(std::move(path)), fd_(fd), reading_(reading), is_slow_(is_slow) {}

  std::string path_;
  int fd_;
  Reading reading_;
  bool is_slow_;
};

}  // namespace torch_tpu::cache
