// What the recorder itself asks of a recorded segment: its header, nothing behind it.
#pragma once

#include <unistd.h>

#include <optional>

#include "trace/segment_format.h"

namespace stallscope {

/// A descriptor that closes itself.
struct OpenFile {
  int fd;
  explicit OpenFile(int opened) : fd(opened) {}
  ~OpenFile() {
    if (fd >= 0) ::close(fd);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
};

/// The header that `file` begins with; nothing when it is no segment.
std::optional<segment::FileHeader> segment_header(int file);

}  // namespace stallscope
