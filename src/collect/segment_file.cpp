#include "collect/segment_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/clock.h"
#include "collect/text.h"

namespace stallscope::collect {
namespace {

// Left for the training program: its checkpoint matters more than our events.
constexpr uint64_t kReserveBytes = 8 << 20;
constexpr int64_t kRetryNoRoomNs = 500'000'000;

struct FileIdentity {
  uint64_t inode = 0;
  bool known = false;
};

// Raw statx: fstat has a newer symbol version than the library may need.
FileIdentity identify(int fd) {
  struct {
    uint32_t mask, block_size;
    uint64_t attributes;
    uint32_t links, uid, gid;
    uint16_t mode, spare;
    uint64_t inode;
    uint64_t rest[64];
  } status;
  memset(&status, 0, sizeof status);
  constexpr int kEmptyPath = 0x1000;      // AT_EMPTY_PATH
  constexpr unsigned kInodeMask = 0x100;  // STATX_INO
#ifdef SYS_statx
  if (syscall(SYS_statx, fd, "", kEmptyPath, kInodeMask, &status) != 0) return {};
#endif
  return {status.inode, true};
}

bool room_for(Session& session, int fd, uint64_t end) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      end > limit.rlim_cur) {
    return false;  // growing further would raise SIGXFSZ in the target
  }
  if (g_options.test_room_bytes >= 0 && end > static_cast<uint64_t>(g_options.test_room_bytes))
    return false;
  struct statvfs disk;
  if (fstatvfs(fd, &disk) != 0) return true;  // allocation itself will tell
  const uint64_t free_bytes = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
  return free_bytes >= kReserveBytes + (end - session.file_bytes);
}

bool write_zeros(int fd, uint64_t begin, uint64_t end) {
  static const uint8_t zeros[4096] = {};
  while (begin < end) {
    const size_t bytes = end - begin < sizeof zeros ? end - begin : sizeof zeros;
    const ssize_t written = pwrite(fd, zeros, bytes, static_cast<off_t>(begin));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    begin += static_cast<uint64_t>(written);
  }
  return true;
}

// Room on disk is taken before anything is stored: a store into a hole of a
// full disk would kill the target with SIGBUS.
bool allocate(int fd, uint64_t begin, uint64_t end) {
  for (;;) {
    if (fallocate(fd, 0, static_cast<off_t>(begin), static_cast<off_t>(end - begin)) == 0)
      return true;
    if (errno == EINTR) continue;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
    return write_zeros(fd, begin, end);
  }
}

void populate(uint8_t* memory, size_t bytes) {
  if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return;
  for (size_t page = 0; page < bytes; page += 4096)
    __atomic_fetch_or(memory + page, 0, __ATOMIC_RELAXED);
}

uint8_t* map_file(int fd, uint64_t offset, size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

// No descriptor is kept: a target may close all, and then open its own files
// under our number.
int open_again(Session& session) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const int fd = open(session.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return -1;
    const FileIdentity identity = identify(fd);
    if (!identity.known || identity.inode == session.inode) return fd;
    close(fd);
  }
  return -1;
}

bool make_chunk(Session& session, int fd, uint32_t chunk) {
  const uint64_t begin =
      segment::kHeaderBytes + static_cast<uint64_t>(chunk) * segment::kChunkBytes;
  const uint64_t end = begin + segment::kChunkBytes;
  if (!room_for(session, fd, end) || !allocate(fd, begin, end)) return false;
  session.file_bytes = end;
  uint8_t*& extent = session.extents[chunk / kChunksPerExtent];
  if (extent == nullptr) extent = map_file(fd, begin, kExtentBytes);
  if (extent == nullptr) return false;
  populate(chunk_address(session, chunk), segment::kChunkBytes);
  return true;
}

}  // namespace

uint32_t chunk_limit() {
  constexpr uint32_t kMost = kMaxExtents * kChunksPerExtent;
  constexpr uint64_t kFewest = 8;  // definitions, threads and a few to turn over
  if (g_options.max_bytes == 0) return kMost;
  uint64_t chunks = g_options.max_bytes > segment::kHeaderBytes
                        ? (g_options.max_bytes - segment::kHeaderBytes) / segment::kChunkBytes
                        : 0;
  if (chunks < kFewest) chunks = kFewest;
  return chunks < kMost ? static_cast<uint32_t>(chunks) : kMost;
}

bool create_file(Session& session) {
  int fd = -1;
  for (uint32_t suffix = 0; fd < 0 && suffix < 10'000; ++suffix) {
    TextBuilder path(session.path, sizeof session.path);
    path.add(g_options.folder).add("/").add_number(session.pid);
    if (suffix > 0) path.add("-").add_number(suffix);
    path.add(segment::kFileSuffix);
    if (path.overflowed()) return false;
    fd = open(session.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 && errno != EEXIST) return false;
  }
  if (fd < 0) return false;
  session.inode = identify(fd).inode;
  uint8_t* header = nullptr;
  if (room_for(session, fd, segment::kHeaderBytes) && allocate(fd, 0, segment::kHeaderBytes))
    header = map_file(fd, 0, segment::kHeaderBytes);
  close(fd);
  session.file_bytes = segment::kHeaderBytes;
  if (header == nullptr) {
    unlink(session.path);
    return false;
  }
  populate(header, segment::kHeaderBytes);
  session.header = reinterpret_cast<segment::FileHeader*>(header);
  session.clock_table = reinterpret_cast<segment::ClockPoint*>(header + segment::kClockTableOffset);
  return true;
}

uint32_t grow_file(Session& session, uint32_t wanted, uint32_t* made) {
  const int64_t now = clock_ns(CLOCK_MONOTONIC);
  if (now < __atomic_load_n(&session.no_room_until_ns, __ATOMIC_RELAXED)) return 0;
  const Locked locked(session.grow_lock);
  if (!locked) {
    // Whoever holds it waits for the disk: the target must not wait again with every event.
    __atomic_store_n(&session.no_room_until_ns, clock_ns(CLOCK_MONOTONIC) + kRetryNoRoomNs,
                     __ATOMIC_RELAXED);
    return 0;
  }
  const uint32_t limit = chunk_limit();
  auto may_grow = [&] { return session.chunks_made < limit && !is_closing(session); };
  if (!may_grow()) return 0;
  const int fd = open_again(session);
  uint32_t count = 0;
  // A chunk at a time: whoever closes the file waits for this lock to trim it.
  while (fd >= 0 && count < wanted && may_grow()) {
    if (!make_chunk(session, fd, session.chunks_made)) break;
    made[count++] = __atomic_fetch_add(&session.chunks_made, 1, __ATOMIC_RELAXED);
  }
  if (fd >= 0) close(fd);
  __atomic_store_n(&session.no_room_until_ns, count == 0 ? now + kRetryNoRoomNs : 0,
                   __ATOMIC_RELAXED);
  return count;
}

void trim_file(Session& session, uint32_t chunks_used) {
  const uint64_t bytes =
      segment::kHeaderBytes + static_cast<uint64_t>(chunks_used) * segment::kChunkBytes;
  const Locked locked(session.grow_lock);
  if (!locked || bytes >= session.file_bytes) return;
  const int fd = open_again(session);
  if (fd < 0) return;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0) session.file_bytes = bytes;
  close(fd);
}

}  // namespace stallscope::collect
