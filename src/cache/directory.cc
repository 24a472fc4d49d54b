// Files of a directory, opened relative to its descriptor.
#include "cache/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>

#include "cache/key_name.h"

namespace torch_tpu::cache {
namespace {

constexpr std::string_view kSuffix = ".tpuprog";
constexpr std::string_view kTemporary = ".tmp-";

std::string FileName(const Key& key) { return KeyName(key) + std::string(kSuffix); }

Status Failed(const std::string& what, const std::string& path) {
  const int error = errno;
  const StatusCode code = error == ENOENT ? StatusCode::kNotFound : StatusCode::kUnavailable;
  return {code, what + " " + path + ": " + std::strerror(error)};
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Mounted buckets and network disks, by the magic numbers of statfs(2).
bool IsRemote(int fd) {
  struct statfs info;
  if (fstatfs(fd, &info) != 0) return true;
  switch (static_cast<uint32_t>(info.f_type)) {
    case 0x65735546:  // FUSE
    case 0x6969:      // NFS
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB2
    case 0x01021997:  // 9p
    case 0x00c36400:  // Ceph
    case 0x0bd00bd0:  // Lustre
    case 0x47504653:  // GPFS
      return true;
    default:
      return false;
  }
}

Status MakeDirectories(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (at != std::string::npos) ++at;
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return Failed("making", part);
  }
  return {};
}

Result<Blob> Map(int fd, size_t size, const std::string& path) {
  void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return Failed("mapping", path);
  std::shared_ptr<const void> owner(memory, [size](void* p) { munmap(p, size); });
  return Blob{{static_cast<const char*>(memory), size}, std::move(owner)};
}

Result<Blob> Copy(int fd, size_t size, const std::string& path) {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = read(fd, bytes.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed("reading", path);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return Blob::Of(std::move(bytes));
}

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed("writing", path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// Calls `each` with every name in the directory.
Status ForEachName(int directory, const std::string& path,
                   const std::function<void(const char*)>& each) {
  const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* dir = fd < 0 ? nullptr : fdopendir(fd);
  if (dir == nullptr) {
    const Status status = Failed("listing", path);
    if (fd >= 0) close(fd);
    return status;
  }
  while (const dirent* item = readdir(dir)) each(item->d_name);
  closedir(dir);
  return {};
}

}  // namespace

Result<std::unique_ptr<Directory>> Directory::Open(const std::string& path, Reading reading) {
  if (path.empty()) return InvalidArgument("the program cache got an empty path");
  RETURN_IF_ERROR(MakeDirectories(path));
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed("opening", path);
  std::unique_ptr<Directory> directory(new Directory(path, fd, reading, IsRemote(fd)));
  struct stat info;
  if (fstat(fd, &info) != 0) return Failed("opening", path);
  if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Status(StatusCode::kPermissionDenied,
                  path +
                      " is no place for compiled programs: expected a directory that belongs to "
                      "you and that nobody else can write into (chmod go-w)");
  }
  return directory;
}

Directory::~Directory() { close(fd_); }

Result<Blob> Directory::Read(const Key& key) {
  const std::string name = FileName(key);
  const File file(openat(fd_, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.fd() < 0) {
    if (errno == ELOOP) return NotFound(name + " is a link");
    return Failed("reading", name);
  }
  struct stat info;
  if (fstat(file.fd(), &info) != 0) return Failed("reading", name);
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) return NotFound(name + " is not ours");
  if (info.st_size > kMaxEntryBytes) return Status(StatusCode::kDataLoss, name + " is too large");
  // The time of modification is the time of the last use; once an hour is enough.
  const bool due = reading_ != Reading::kLook && info.st_mtime < time(nullptr) - 3600;
  if (due) (void)futimens(file.fd(), nullptr);
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return Blob{};
  return reading_ == Reading::kMap ? Map(file.fd(), size, name) : Copy(file.fd(), size, name);
}

Status Directory::Write(const Key& key, std::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) > kMaxEntryBytes) {
    return Status(StatusCode::kOutOfRange, "the program is too large to be stored");
  }
  // Process ids repeat between the hosts that share a directory.
  static std::atomic<uint64_t> counter{uint64_t{std::random_device()()} << 20};
  const std::string name = FileName(key);
  const std::string temporary = std::string(kTemporary) + std::to_string(getpid()) + "-" +
                                std::to_string(counter.fetch_add(1)) + "-" + name;
  Status status;
  {
    const File file(
        openat(fd_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.fd() < 0) return Failed("writing", path_ + "/" + temporary);
    status = WriteAll(file.fd(), bytes, path_ + "/" + temporary);
  }
  if (status.ok() && renameat(fd_, temporary.c_str(), fd_, name.c_str()) != 0) {
    status = Failed("renaming", path_ + "/" + temporary);
  }
  if (!status.ok()) (void)unlinkat(fd_, temporary.c_str(), 0);
  return status;
}

Status Directory::Remove(const Key& key) {
  const std::string name = FileName(key);
  if (unlinkat(fd_, name.c_str(), 0) != 0 && errno != ENOENT) {
    return Failed("removing", path_ + "/" + name);
  }
  return {};
}

Result<std::vector<StoredFile>> Directory::List() {
  std::vector<StoredFile> files;
  RETURN_IF_ERROR(ForEachName(fd_, path_, [&](const char* text) {
    const std::string_view name(text);
    if (!name.ends_with(kSuffix)) return;
    const auto key = ParseKeyName(name.substr(0, name.size() - kSuffix.size()));
    struct stat info;
    if (!key || fstatat(fd_, text, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISREG(info.st_mode)) files.push_back({*key, info.st_size, info.st_mtime});
  }));
  return files;
}

void Directory::RemoveLeftovers(int64_t older_than_seconds) {
  (void)ForEachName(fd_, path_, [&](const char* name) {
    struct stat info;
    if (!std::string_view(name).starts_with(kTemporary)) return;
    if (fstatat(fd_, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (info.st_mtime <= time(nullptr) - older_than_seconds) (void)unlinkat(fd_, name, 0);
  });
}

}  // namespace torch_tpu::cache
