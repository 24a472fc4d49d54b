// Layout: magic, version, key, text hash, two lengths, checksum; then metadata and executable.
#include "cache/entry.h"

#include <bit>
#include <cstring>

#include "cache/checksum.h"
#include "cache/key_name.h"

namespace torch_tpu::cache {
namespace {

static_assert(std::endian::native == std::endian::little, "entries are little-endian");

constexpr char kMagic[8] = {'T', 'P', 'U', 'P', 'R', 'O', 'G', '\n'};

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  Key key;
  Digest text_hash;
  uint64_t metadata_bytes;
  uint64_t executable_bytes;
  uint64_t checksum;  // of everything, with zero in this place
};
static_assert(sizeof(Header) == 96 && std::is_trivially_copyable_v<Header>);

Status Refused(const std::string& why) { return {StatusCode::kDataLoss, "stored program: " + why}; }

class Writer {
 public:
  void Number(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 8); }
  void Text(std::string_view text) {
    Number(text.size());
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads what Writer wrote. After the first thing that does not fit, everything is empty and ok() is
// false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  uint64_t Number() {
    uint64_t value = 0;
    if (left_.size() < 8) return Fail();
    std::memcpy(&value, left_.data(), 8);
    left_.remove_prefix(8);
    return value;
  }
  std::string Text() {
    const uint64_t size = Number();
    if (size > left_.size()) return Fail(), std::string();
    std::string text(left_.substr(0, size));
    left_.remove_prefix(size);
    return text;
  }
  // The length of a list whose elements take at least `element_bytes`.
  uint64_t Count(uint64_t element_bytes) {
    const uint64_t count = Number();
    return count > left_.size() / element_bytes ? Fail() : count;
  }
  bool ok() const { return ok_; }
  bool AtEnd() const { return left_.empty(); }

 private:
  uint64_t Fail() {
    ok_ = false;
    left_ = {};
    return 0;
  }
  std::string_view left_;
  bool ok_ = true;
};

std::string EncodeInfo(const ProgramInfo& info) {
  Writer w;
  w.Text(info.name);
  w.Text(info.operands);
  w.Number(info.pieces.size());
  for (const auto& [name, value] : info.pieces) {
    w.Text(name);
    w.Text(value);
  }
  w.Number(info.checks.size());
  for (size_t i = 0; i < info.checks.size(); ++i) {
    w.Text(info.checks[i]);
    w.Number(info.check_is_index[i]);
  }
  w.Number(info.reports_completion);
  w.Number(info.interface);
  w.Number(static_cast<uint64_t>(info.text_bytes));
  w.Number(static_cast<uint64_t>(info.compile_microseconds));
  w.Number(static_cast<uint64_t>(info.created));
  return w.bytes();
}

Status DecodeInfo(std::string_view bytes, ProgramInfo* info) {
  Reader r(bytes);
  info->name = r.Text();
  info->operands = r.Text();
  const uint64_t num_pieces = r.Count(16);
  for (uint64_t i = 0; i < num_pieces && r.ok(); ++i) {
    std::string name = r.Text();
    info->pieces.emplace_back(std::move(name), r.Text());
  }
  const uint64_t num_checks = r.Count(16);
  for (uint64_t i = 0; i < num_checks && r.ok(); ++i) {
    info->checks.push_back(r.Text());
    info->check_is_index.push_back(r.Number() != 0);
  }
  info->reports_completion = r.Number() != 0;
  info->interface = r.Number();
  info->text_bytes = static_cast<int64_t>(r.Number());
  info->compile_microseconds = static_cast<int64_t>(r.Number());
  info->created = static_cast<int64_t>(r.Number());
  if (!r.ok() || !r.AtEnd()) return Refused("its description does not parse");
  return {};
}

uint64_t ChecksumOf(Header header, std::string_view body) {
  header.checksum = 0;
  const uint64_t seed = Checksum({reinterpret_cast<const char*>(&header), sizeof header});
  return Checksum(body, seed);
}

}  // namespace

std::string EncodeEntry(const Entry& entry) {
  const std::string metadata = EncodeInfo(entry.info);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFormatVersion;
  header.header_bytes = sizeof header;
  header.key = entry.key;
  header.text_hash = entry.text_hash;
  header.metadata_bytes = metadata.size();
  header.executable_bytes = entry.executable.size();
  std::string bytes(sizeof header, '\0');
  bytes.reserve(sizeof header + metadata.size() + entry.executable.size());
  bytes += metadata;
  bytes += entry.executable;
  header.checksum = ChecksumOf(header, std::string_view(bytes).substr(sizeof header));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Result<Entry> DecodeEntry(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return Refused("it is too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return Refused("the file is something else");
  }
  if (header.version != kFormatVersion || header.header_bytes != sizeof header) {
    return Refused("format version " + std::to_string(header.version) + ", expected " +
                   std::to_string(kFormatVersion));
  }
  const std::string_view body = bytes.substr(sizeof header);
  if (header.metadata_bytes > body.size() ||
      header.executable_bytes != body.size() - header.metadata_bytes) {
    return Refused("its length is not what it says");
  }
  if (header.checksum != ChecksumOf(header, body)) return Refused("its checksum is wrong");
  Entry entry;
  entry.key = header.key;
  entry.text_hash = header.text_hash;
  entry.executable = body.substr(header.metadata_bytes);
  RETURN_IF_ERROR(DecodeInfo(body.substr(0, header.metadata_bytes), &entry.info));
  return entry;
}

Result<Entry> DecodeEntry(std::string_view bytes, const Key& key) {
  ASSIGN_OR_RETURN(Entry entry, DecodeEntry(bytes));
  if (!(entry.key == key)) {
    return Refused("it is of the key " + KeyName(entry.key) + ", expected " + KeyName(key));
  }
  return entry;
}

}  // namespace torch_tpu::cache
