#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace stallscope {
namespace {

/// A file descriptor that closes itself.
struct Descriptor {
  int fd = -1;
  explicit Descriptor(int opened) : fd(opened) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

Error system_error(const char* what, const std::string& path, int code) {
  return Error{.message = std::string(what) + ": " + std::strerror(code), .file = path};
}

}  // namespace

Result<std::string> read_file(const std::string& path, uint64_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) return system_error("cannot open", path, errno);
  struct stat info = {};
  if (::fstat(file.fd, &info) != 0) return system_error("cannot read", path, errno);
  if (S_ISDIR(info.st_mode)) return Error{.message = "is a folder, not a file", .file = path};
  std::string content;
  if (S_ISREG(info.st_mode)) {
    if (static_cast<uint64_t>(info.st_size) > limit)
      return Error{.message = "is larger than " + std::to_string(limit) + " bytes", .file = path};
    content.reserve(static_cast<size_t>(info.st_size));
  }
  char buffer[64 * 1024];
  for (;;) {
    const ssize_t got = ::read(file.fd, buffer, sizeof buffer);
    if (got == 0) return content;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("cannot read", path, errno);
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > limit)
      return Error{.message = "is larger than " + std::to_string(limit) + " bytes", .file = path};
  }
}

namespace {

/// Opens `opened` and writes all of `content`; errors name `path`.
Status write_all(const std::string& opened, const std::string& path, std::string_view content) {
  const Descriptor file(::open(opened.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.fd < 0) return system_error("cannot write", path, errno);
  for (size_t done = 0; done < content.size();) {
    const ssize_t put = ::write(file.fd, content.data() + done, content.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error("cannot write", path, errno);
    done += static_cast<size_t>(put);
  }
  return ok_status();
}

}  // namespace

Status write_file(const std::string& path, std::string_view content) {
  // A device or a pipe is written to; a file put in its place would take it away from everyone.
  struct stat existing = {};
  if (::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode) &&
      !S_ISDIR(existing.st_mode))
    return write_all(path, path, content);
  const std::string temporary = path + ".tmp" + std::to_string(::getpid());
  if (const Status written = write_all(temporary, path, content); !written) {
    ::unlink(temporary.c_str());
    return written.error();
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    return system_error("cannot write", path, code);
  }
  return ok_status();
}

std::string content_hash(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a offset basis and prime
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace stallscope
