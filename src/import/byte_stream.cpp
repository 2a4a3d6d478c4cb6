#include "import/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/units.h"

namespace stallscope {
namespace {

constexpr size_t kInputBlock = 256 * 1024;
// Deflate cannot exceed 1032:1 and traces reach 15:1 to 30:1; a file that keeps
// up more than this after the first gigabyte is taken for a bomb unless the
// limit was raised by hand.
constexpr uint64_t kMaxRatio = 400;
constexpr uint64_t kRatioFrom = 1ULL << 30;

class FileStream final : public ByteStream {
 public:
  FileStream(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~FileStream() override { ::close(descriptor_); }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  Result<size_t> read(std::span<char> into) override {
    ssize_t got;
    do {
      got = ::read(descriptor_, into.data(), into.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      return Error{.message = std::string("cannot be read: ") + std::strerror(errno),
                   .file = path_,
                   .offset = consumed_};
    }
    consumed_ += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }
  uint64_t consumed() const override { return consumed_; }
  const std::string& damage() const override { return damage_; }
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
  uint64_t consumed_ = 0;
  std::string damage_;
};

// What the two decompressors share: the compressed block and the limits.
class InflatingStream : public ByteStream {
 public:
  InflatingStream(std::unique_ptr<FileStream> file, const StreamLimits& limits)
      : file_(std::move(file)), limits_(limits), input_(kInputBlock) {}

  Result<size_t> read(std::span<char> into) final {
    size_t produced = 0;
    while (produced < into.size() && !ended_) {
      if (available_ == 0 && !at_end_) {
        Result<size_t> got = file_->read(input_);
        if (!got) return got;
        next_ = 0;
        available_ = *got;
        at_end_ = *got == 0;
      }
      produced += inflate_some(into.subspan(produced));
    }
    inflated_ += produced;
    if (Status within = check_limits(); !within) return within.error();
    return produced;
  }
  uint64_t consumed() const final { return file_->consumed(); }
  const std::string& damage() const final { return damage_; }

 protected:
  // Turns input_[next_, next_ + available_) into bytes of `into`. Must either
  // make progress or set ended_.
  virtual size_t inflate_some(std::span<char> into) = 0;

  void end_with(std::string damage) {
    damage_ = std::move(damage);
    ended_ = true;
  }

  std::unique_ptr<FileStream> file_;
  StreamLimits limits_;
  std::vector<char> input_;
  size_t next_ = 0, available_ = 0;
  bool at_end_ = false, ended_ = false;

 private:
  Status check_limits() const {
    const bool default_limit = limits_.max_inflated_bytes <= StreamLimits{}.max_inflated_bytes;
    const bool bomb = default_limit && inflated_ > kRatioFrom &&
                      inflated_ / kMaxRatio > std::max<uint64_t>(file_->consumed(), 1);
    if (!bomb && inflated_ <= limits_.max_inflated_bytes) return ok_status();
    const std::string what =
        bomb ? "inflates to more than " + std::to_string(kMaxRatio) + " times its size"
             : "inflates to more than " +
                   format_bytes(static_cast<double>(limits_.max_inflated_bytes));
    return Error{.message = what + "; it is refused as a decompression bomb",
                 .file = file_->path(),
                 .remedy = "raise --max-inflated if the file is what you meant"};
  }

  uint64_t inflated_ = 0;
  std::string damage_;
};

class GzipStream final : public InflatingStream {
 public:
  GzipStream(std::unique_ptr<FileStream> file, const StreamLimits& limits)
      : InflatingStream(std::move(file), limits) {
    // 15: largest window; +16: gzip framing.
    ready_ = inflateInit2(&z_, 15 + 16) == Z_OK;
  }
  ~GzipStream() override {
    if (ready_) inflateEnd(&z_);
  }

 protected:
  size_t inflate_some(std::span<char> into) override {
    if (!ready_) {
      end_with("the decompressor could not be set up");
      return 0;
    }
    if (available_ == 0 && between_members_) {
      ended_ = true;
      return 0;
    }
    if (between_members_ && members_ > 0 && static_cast<unsigned char>(input_[next_]) != 0x1f) {
      ended_ = true;  // trailing padding: gzip ignores it too
      return 0;
    }
    between_members_ = false;
    z_.next_in = reinterpret_cast<Bytef*>(input_.data() + next_);
    z_.avail_in = static_cast<uInt>(available_);
    z_.next_out = reinterpret_cast<Bytef*>(into.data());
    z_.avail_out = static_cast<uInt>(std::min<size_t>(into.size(), 1U << 30));
    const uInt room = z_.avail_out;
    const int code = inflate(&z_, Z_NO_FLUSH);
    next_ += available_ - z_.avail_in;
    available_ = z_.avail_in;
    if (code == Z_STREAM_END) {
      between_members_ = true;
      ++members_;
      inflateReset(&z_);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      end_with(z_.msg != nullptr ? std::string("the compressed data is damaged: ") + z_.msg
                                 : "the compressed data is damaged");
    } else if (at_end_ && available_ == 0 && z_.avail_out == room) {
      end_with("the compressed data ends too early");  // nothing was left in the window either
    }
    return room - z_.avail_out;
  }

 private:
  z_stream z_{};
  bool ready_ = false;
  bool between_members_ = true;
  int members_ = 0;
};

class ZstdStream final : public InflatingStream {
 public:
  ZstdStream(std::unique_ptr<FileStream> file, const StreamLimits& limits)
      : InflatingStream(std::move(file), limits), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    // 128 MiB: what `zstd --long=27` writes, and what the zstd tool accepts by default.
    if (stream_) ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, 27);
  }

 protected:
  size_t inflate_some(std::span<char> into) override {
    if (!stream_) {
      end_with("the decompressor could not be set up");
      return 0;
    }
    if (available_ == 0 && at_end_ && !inside_frame_) {
      ended_ = true;
      return 0;
    }
    ZSTD_inBuffer in{input_.data() + next_, available_, 0};
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    const size_t code = ZSTD_decompressStream(stream_.get(), &out, &in);
    next_ += in.pos;
    available_ -= in.pos;
    if (ZSTD_isError(code)) {
      end_with(std::string("the compressed data is damaged: ") + ZSTD_getErrorName(code));
    } else if (at_end_ && available_ == 0 && out.pos == 0) {
      end_with("the compressed data ends too early");  // nothing was held back either
    }
    inside_frame_ = code != 0;
    return out.pos;
  }

 private:
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream_;
  bool inside_frame_ = true;
};

Error cannot_open(const std::string& path, const std::string& why) {
  return Error{.message = "cannot be opened: " + why, .file = path};
}

}  // namespace

Result<std::unique_ptr<ByteStream>> open_stream(const std::string& path,
                                                const StreamLimits& limits) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_open(path, std::strerror(errno));
  auto file = std::make_unique<FileStream>(descriptor, path);
  struct stat status{};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
    return cannot_open(path, "it is a directory");
  unsigned char magic[4] = {};
  // pread leaves the position alone; a pipe has no magic to look at twice.
  const ssize_t got = ::pread(descriptor, magic, sizeof magic, 0);
  const auto starts_with = [&](std::initializer_list<unsigned char> bytes) {
    return got >= static_cast<ssize_t>(bytes.size()) &&
           std::equal(bytes.begin(), bytes.end(), magic);
  };
  if (starts_with({0x1f, 0x8b}))
    return std::unique_ptr<ByteStream>(std::make_unique<GzipStream>(std::move(file), limits));
  if (starts_with({0x28, 0xb5, 0x2f, 0xfd}))
    return std::unique_ptr<ByteStream>(std::make_unique<ZstdStream>(std::move(file), limits));
  return std::unique_ptr<ByteStream>(std::move(file));
}

Result<std::string> read_head(const std::string& path, size_t size) {
  Result<std::unique_ptr<ByteStream>> stream = open_stream(path);
  if (!stream) return stream.error();
  std::string head(size, '\0');
  size_t filled = 0;
  while (filled < size) {
    Result<size_t> got = (*stream)->read({head.data() + filled, size - filled});
    if (!got) return got.error();
    if (*got == 0) break;
    filled += *got;
  }
  head.resize(filled);
  return head;
}

}  // namespace stallscope
