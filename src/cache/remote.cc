// A queue of requests and a table of answers.
#include "cache/remote.h"

#include <utility>

#include "cache/key_name.h"

namespace torch_tpu::cache {
namespace {

constexpr std::string_view kSuffix = ".tpuprog";

Status Closed() { return FailedPrecondition("the program cache is closing"); }

}  // namespace

std::string RemoteStorage::FileName(const Key& key) { return KeyName(key) + std::string(kSuffix); }

std::optional<Key> RemoteStorage::KeyOf(const std::string& file_name) {
  if (!file_name.ends_with(kSuffix)) return std::nullopt;
  return ParseKeyName(std::string_view(file_name).substr(0, file_name.size() - kSuffix.size()));
}

RemoteStorage::Answer RemoteStorage::Ask(Request request) {
  std::unique_lock lock(mutex_);
  if (closed_) return {Closed(), {}, {}};
  const int64_t id = request.id = next_id_++;
  answers_[id];
  requests_.push_back(std::move(request));
  asked_.notify_one();
  answered_.wait(lock, [&] { return closed_ || answers_[id].has_value(); });
  auto answer = std::move(answers_[id]);
  answers_.erase(id);
  return answer ? std::move(*answer) : Answer{Closed(), {}, {}};
}

Result<Blob> RemoteStorage::Read(const Key& key) {
  Answer answer = Ask({Request::kRead, 0, FileName(key), {}});
  RETURN_IF_ERROR(answer.status);
  return Blob::Of(std::move(answer.bytes));
}

Status RemoteStorage::Write(const Key& key, std::string_view bytes) {
  return Ask({Request::kWrite, 0, FileName(key), std::string(bytes)}).status;
}

Status RemoteStorage::Remove(const Key& key) {
  return Ask({Request::kRemove, 0, FileName(key), {}}).status;
}

Result<std::vector<StoredFile>> RemoteStorage::List() {
  Answer answer = Ask({Request::kList, 0, {}, {}});
  RETURN_IF_ERROR(answer.status);
  return std::move(answer.files);
}

void RemoteStorage::Close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  requests_.clear();
  asked_.notify_all();
  answered_.notify_all();
}

std::optional<RemoteStorage::Request> RemoteStorage::Next() {
  std::unique_lock lock(mutex_);
  asked_.wait(lock, [&] { return closed_ || !requests_.empty(); });
  if (closed_) return std::nullopt;
  Request request = std::move(requests_.front());
  requests_.pop_front();
  return request;
}

void RemoteStorage::Finish(int64_t id, Answer answer) {
  std::lock_guard lock(mutex_);
  const auto waiting = answers_.find(id);
  if (waiting == answers_.end()) return;
  waiting->second = std::move(answer);
  answered_.notify_all();
}

}  // namespace torch_tpu::cache
