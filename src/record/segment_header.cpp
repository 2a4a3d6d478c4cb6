#include "record/segment_header.h"

namespace stallscope {

std::optional<segment::FileHeader> segment_header(int file) {
  segment::FileHeader header = {};
  if (::pread(file, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      header.magic != segment::kMagic)
    return std::nullopt;
  return header;
}

}  // namespace stallscope
