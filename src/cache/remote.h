// Storage that somebody else reaches: requests wait in a queue until a thread of the Python side,
// which has fsspec, takes and answers them.
//
// No thread of this library ever waits for Python's lock this way, and the end of the process does
// not depend on a storage that hangs.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/storage.h"

namespace torch_tpu::cache {

class RemoteStorage : public Storage {
 public:
  struct Request {
    enum Verb { kRead, kWrite, kRemove, kList } verb = kRead;
    int64_t id = 0;
    std::string name;   // of the file
    std::string bytes;  // to write
  };
  struct Answer {
    Status status;
    std::string bytes;
    std::vector<StoredFile> files;
  };

  explicit RemoteStorage(std::string url) : url_(std::move(url)) {}

  std::string description() const override { return url_; }
  bool is_slow() const override { return true; }
  Result<Blob> Read(const Key& key) override;
  Status Write(const Key& key, std::string_view bytes) override;
  Status Remove(const Key& key) override;
  Result<std::vector<StoredFile>> List() override;
  void Close() override;

  // For the threads that serve: the next request, waiting for one; nothing when closed.
  std::optional<Request> Next();
  void Finish(int64_t id, Answer answer);

  static std::string FileName(const Key& key);
  // The key of a file's name; nothing for files of others.
  static std::optional<Key> KeyOf(const std::string& file_name);

 private:
  Answer Ask(Request request);

  const std::string url_;
  std::mutex mutex_;
  std::condition_variable asked_, answered_;
  std::deque<Request> requests_;
  std::map<int64_t, std::optional<Answer>> answers_;
  int64_t next_id_ = 0;
  bool closed_ = false;
};

}  // namespace torch_tpu::cache
