#include "record/process_ranks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "record/segment_header.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

void name_rank(int file, std::span<const ProcessRank> ranks) {
  const auto header = segment_header(file);
  if (!header || header->rank >= 0) return;
  const auto known = std::ranges::find(ranks, header->pid, &ProcessRank::pid);
  if (known == ranks.end()) return;
  const auto write = [&](const int32_t& value, size_t offset) {
    return ::pwrite(file, &value, sizeof value, static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(sizeof value);
  };
  // The rank last: it counts only with its size.
  if (write(known->world_size, offsetof(segment::FileHeader, world_size)))
    (void)write(known->rank, offsetof(segment::FileHeader, rank));
}

}  // namespace

void name_ranks(const std::string& recording_folder, std::span<const ProcessRank> ranks) {
  if (ranks.empty()) return;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(recording_folder, error)) {
    if (entry.path().extension() != segment::kFileSuffix) continue;
    const OpenFile file(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.fd >= 0) name_rank(file.fd, ranks);
  }
}

}  // namespace stallscope
