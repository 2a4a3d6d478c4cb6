#include "import/segment_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stallscope {
namespace {

class FileSource : public SegmentSource {
 public:
  FileSource(int descriptor, uint64_t size) : descriptor_(descriptor), size_(size) {}
  ~FileSource() override { close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  uint64_t size() const override { return size_; }
  bool read(uint64_t offset, std::span<unsigned char> into) const override {
    while (!into.empty()) {
      const ssize_t got = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      into = into.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
    return true;
  }

 private:
  int descriptor_;
  uint64_t size_;
};

class MemorySource : public SegmentSource {
 public:
  explicit MemorySource(std::span<const unsigned char> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  bool read(uint64_t offset, std::span<unsigned char> into) const override {
    if (offset > bytes_.size() || into.size() > bytes_.size() - offset) return false;
    if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return true;
  }

 private:
  std::span<const unsigned char> bytes_;
};

}  // namespace

Result<std::unique_ptr<SegmentSource>> open_segment_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Error{.message = std::string("cannot be opened: ") + std::strerror(errno), .file = path};
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return Error{.message = "is not a regular file", .file = path};
  }
  return std::unique_ptr<SegmentSource>(
      std::make_unique<FileSource>(descriptor, static_cast<uint64_t>(status.st_size)));
}

std::unique_ptr<SegmentSource> segment_in_memory(std::span<const unsigned char> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

bool RecordWalk::next(RecordView& record) {
  if (rest_.size() < sizeof(segment::Record) + sizeof(segment::Tail)) return false;
  std::memcpy(&record.head, rest_.data(), sizeof record.head);
  const size_t bytes = record.head.units * segment::kUnit;
  const bool dead = !committed_ && record.head.kind == segment::RecordKind::none;
  if (record.head.kind == segment::RecordKind::none && !dead) return false;
  if (bytes < sizeof(segment::Record) + sizeof(segment::Tail) || bytes > rest_.size()) {
    damaged_ = !committed_ || record.head.units != 0;
    return false;
  }
  std::memcpy(&record.tail, rest_.data() + bytes - sizeof record.tail, sizeof record.tail);
  if (committed_) {
    uint64_t first_word = 0;
    std::memcpy(&first_word, rest_.data(), sizeof first_word);
    if (record.tail.commit != segment::commit_word(key_, first_word)) return false;
  }
  size_t used = sizeof record.head;
  const size_t end = bytes - sizeof record.tail;
  record.duration = record.head.duration;
  if ((record.head.flags & segment::kLongDuration) != 0 && used + 8 <= end) {
    std::memcpy(&record.duration, rest_.data() + used, 8);
    used += 8;
  }
  record.context = {};
  if ((record.head.flags & segment::kContext) != 0 && used + sizeof record.context <= end) {
    std::memcpy(&record.context, rest_.data() + used, sizeof record.context);
    used += sizeof record.context;
  }
  record.body = rest_.subspan(used, end - used);
  rest_ = rest_.subspan(bytes);
  return true;
}

}  // namespace stallscope
