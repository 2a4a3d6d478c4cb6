#include "record/gather.h"

#include <fcntl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "record/segment_header.h"
#include "trace/run_manifest.h"
#include "trace/sample_file.h"
#include "trace/segment_format.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// Storage that several machines share: slow to map, and its pages may be lost with the link.
bool is_network_storage(const std::string& folder) {
  struct statfs info = {};
  if (::statfs(folder.c_str(), &info) != 0) return false;
  // Magic numbers of statfs(2): NFS, CIFS, SMB2, Lustre, GPFS, BeeGFS, Ceph, FUSE.
  constexpr unsigned long kShared[] = {0x6969,     0xff534d42, 0xfe534d42, 0x0bd00bd0,
                                       0x47504653, 0x19830326, 0x00c36400, 0x65735546};
  const auto type = static_cast<unsigned long>(info.f_type) & 0xffffffffUL;
  return std::ranges::find(kShared, type) != std::end(kShared);
}

Bytes free_bytes(const std::string& folder) {
  struct statvfs info = {};
  if (::statvfs(folder.c_str(), &info) != 0) return 0;
  return static_cast<Bytes>(info.f_bavail) * info.f_frsize;
}

/// Copies `bytes` from one descriptor to another, leaving holes for zero blocks.
bool copy_sparse(int from, int to, uint64_t bytes) {
  constexpr size_t kBlock = segment::kChunkBytes;
  static_assert(kBlock % 4096 == 0);
  std::vector<char> block(kBlock);
  for (uint64_t at = 0; at < bytes;) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(kBlock, bytes - at));
    const ssize_t got = ::pread(from, block.data(), wanted, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    const auto end = block.begin() + got;
    const bool zero = std::find_if(block.begin(), end, [](char c) { return c != 0; }) == end;
    for (ssize_t put = 0; !zero && put < got;) {
      const ssize_t now = ::pwrite(to, block.data() + put, static_cast<size_t>(got - put),
                                   static_cast<off_t>(at) + put);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) return false;
      put += now;
    }
    at += static_cast<uint64_t>(got);
  }
  return ::ftruncate(to, static_cast<off_t>(bytes)) == 0;
}

/// What gathering needs to know of a file.
struct SegmentUse {
  uint64_t bytes = 0;          ///< how much of the file was ever used
  bool being_written = false;  ///< its process is alive: it must not be cut under the mapping
  int32_t rank = -1;
};

/// The rank in the first line of a file of stack samples; -1 for other files.
int32_t rank_of_samples(int file) {
  char text[256];
  const ssize_t got = ::pread(file, text, sizeof text, 0);
  if (got <= 0) return -1;
  const std::string_view head(text, static_cast<size_t>(got));
  int64_t pid = 0;
  RankIdentity identity;
  return parse_sample_head(head.substr(0, head.find('\n')), pid, identity) ? identity.rank : -1;
}

/// The whole size for a file that is no segment, or whose header cannot be believed.
SegmentUse segment_use(int file, uint64_t size) {
  const auto header = segment_header(file);
  if (!header || header->chunk_bytes == 0) return {.bytes = size, .rank = rank_of_samples(file)};
  const uint64_t used =
      header->header_bytes + static_cast<uint64_t>(header->chunks) * header->chunk_bytes;
  std::error_code error;
  const bool alive = header->state == segment::State::open &&
                     fs::exists("/proc/" + std::to_string(header->pid), error);
  return {.bytes = std::min(used, size), .being_written = alive, .rank = header->rank};
}

/// The rank of the process that left a file about itself, by its segment beside it.
int32_t rank_of_profile(const fs::path& profile) {
  const std::string name = profile.filename().string();
  const fs::path segment =
      profile.parent_path() / (name.substr(0, name.find('.')) + segment::kFileSuffix);
  const OpenFile file(::open(segment.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return file.fd < 0 ? -1 : segment_use(file.fd, 0).rank;
}

bool move_file(const fs::path& from, const fs::path& folder, bool by_rank, Bytes& bytes) {
  const OpenFile source(::open(from.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (source.fd < 0) return false;
  std::error_code error;
  const uint64_t size = fs::file_size(from, error);
  if (error) return false;
  SegmentUse use = segment_use(source.fd, size);
  if (from.extension() == kProfileSuffix || from.extension() == kCollectivesSuffix)
    use.rank = rank_of_profile(from);
  fs::path to = folder;
  if (by_rank)
    to /= use.rank < 0 ? std::string(kLocalFolder)
                       : std::string(kRankFolderPrefix) + std::to_string(use.rank);
  fs::create_directories(to, error);
  to /= from.filename();
  bytes += use.bytes;
  if (!use.being_written) {
    fs::rename(from, to, error);
    if (!error)
      return use.bytes == size || ::ftruncate(source.fd, static_cast<off_t>(use.bytes)) == 0;
  }
  // Another file system, or still in use: copy what was used until now.
  const OpenFile target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (target.fd < 0) return false;
  if (!copy_sparse(source.fd, target.fd, use.bytes)) {
    ::unlink(to.c_str());
    fs::remove(to.parent_path(), error);  // only when nothing else is in it
    return false;
  }
  fs::remove(from, error);
  return true;
}

}  // namespace

Result<std::string> make_recording_folder(const std::string& run_id) {
  constexpr Bytes kRoom = 256ULL << 20;  // enough to begin with: the collector counts what is lost
  const char* chosen = std::getenv("TMPDIR");
  std::vector<std::string> candidates = {chosen != nullptr && *chosen == '/' ? chosen : "/tmp",
                                         "/dev/shm"};
  std::ranges::stable_partition(candidates, [](const std::string& folder) {
    return !is_network_storage(folder) && free_bytes(folder) >= kRoom;
  });
  int code = 0;
  for (const std::string& candidate : candidates) {
    std::string path = candidate;
    path.append("/stallscope-").append(run_id).append("-XXXXXX");
    if (::mkdtemp(path.data()) != nullptr) return path;
    code = errno;
  }
  return Error{
      .message = "cannot create a folder to record into: " + std::string(std::strerror(code)),
      .file = candidates[0],
      .remedy = "set TMPDIR to a folder on this machine that can be written"};
}

Gathered gather(const std::string& recording_folder, const std::string& trace_folder,
                bool by_rank) {
  Gathered gathered;
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(recording_folder, error)) {
    std::error_code ignored;
    if (entry.is_symlink(ignored))
      fs::remove(entry.path(), ignored);  // a link to a library
    else if (entry.is_regular_file(ignored))
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::set<std::string> processes;
  for (const fs::path& file : files) {
    if (move_file(file, trace_folder, by_rank, gathered.bytes)) {
      ++gathered.files;
      const std::string name = file.filename().string();
      processes.insert(name.substr(0, name.find_first_not_of("0123456789")));
    } else {
      gathered.warnings.push_back("a part of the recording could not be moved and stays in " +
                                  file.string() + " (free room and copy it to " + trace_folder +
                                  ")");
    }
  }
  gathered.processes = processes.size();
  if (gathered.warnings.empty()) fs::remove(recording_folder, error);
  return gathered;
}

}  // namespace stallscope
