#include "comm/region.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>

namespace stallscope::comm {
namespace {

constexpr uint32_t kRegionReady = 0x53434f4d;
constexpr std::chrono::milliseconds kPollInterval{1};

size_t region_bytes(int size) {
  return sizeof(Slot) + sizeof(Slot) * static_cast<size_t>(size);
}

void construct(void* base, int size) {
  auto* header = new (base) RegionHeader;
  header->size = static_cast<uint32_t>(size);
  // Default-initialised: the data buffers stay untouched, so no page of them is taken yet.
  for (int r = 0; r < size; ++r)
    new (static_cast<unsigned char*>(base) + sizeof(Slot) * static_cast<size_t>(r + 1)) Slot;
}

Error cannot(const std::string& what, const std::string& name) {
  return Error{.message = what + " shared memory object " + name + ": " + std::strerror(errno),
               .remedy = "check the space and permissions of /dev/shm"};
}

void* map(int fd, size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

struct Fd {
  int value = -1;
  ~Fd() {
    if (value >= 0) close(value);
  }
};

// The start time of a process and whether it still runs: /proc/PID/stat, fields 3 and 22.
struct ProcessState {
  bool runs = false;
  uint64_t birth = 0;
};
ProcessState process_state(int32_t pid) {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  Fd fd{open(path, O_RDONLY | O_CLOEXEC)};
  if (fd.value < 0) return {};
  const ssize_t got = read(fd.value, text, sizeof text - 1);
  if (got <= 0) return {};
  text[got] = 0;
  const char* after_name = std::strrchr(text, ')');
  if (after_name == nullptr || after_name[1] != ' ') return {};
  const char state = after_name[2];
  unsigned long long birth = 0;
  const char* field = after_name + 2;
  for (int i = 3; i < 22 && field != nullptr; ++i) {
    field = std::strchr(field, ' ');
    if (field != nullptr) ++field;
  }
  if (field != nullptr) std::sscanf(field, "%llu", &birth);
  return {.runs = state != 'Z' && state != 'X', .birth = birth};
}

bool creator_alive(const RegionHeader& header) {
  return process_alive(header.creator_pid.load(), header.creator_birth.load());
}

// Removes the object if a run that has ended left it. False when its creator lives.
bool remove_stale(const std::string& name) {
  Fd fd{shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0)};
  if (fd.value < 0) return errno == ENOENT;
  struct stat info{};
  if (fstat(fd.value, &info) != 0) return false;
  if (info.st_size >= static_cast<off_t>(sizeof(RegionHeader))) {
    void* base = map(fd.value, sizeof(RegionHeader));
    if (base == MAP_FAILED) return false;
    const bool alive = creator_alive(*static_cast<RegionHeader*>(base));
    munmap(base, sizeof(RegionHeader));
    if (alive) return false;
  }
  return shm_unlink(name.c_str()) == 0 || errno == ENOENT;
}

// Removes what killed runs left under any name. Young objects are let be: their creator may be
// about to sign them.
void remove_leftovers() {
  constexpr auto kYoung = std::chrono::seconds(10);
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", failed)) {
    const std::string name = "/" + entry.path().filename().string();
    if (!name.starts_with(kRegionPrefix)) continue;
    const auto changed = std::filesystem::last_write_time(entry.path(), failed);
    if (failed || std::filesystem::file_time_type::clock::now() - changed < kYoung) continue;
    remove_stale(name);
  }
}

Result<std::shared_ptr<Region>> create(const std::string& name, int size) {
  remove_leftovers();
  Fd fd;
  for (int attempt = 0; attempt < 2 && fd.value < 0; ++attempt) {
    fd.value = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd.value >= 0) break;
    if (errno != EEXIST || attempt == 1) return cannot("cannot create", name);
    if (!remove_stale(name)) {
      return Error{.message = "shared memory object " + name + " belongs to a run that still lives",
                   .remedy = "give each run its own name"};
    }
  }
  const size_t bytes = region_bytes(size);
  // posix_fallocate, not ftruncate: a full /dev/shm is an error here, not a SIGBUS later.
  if (const int code = posix_fallocate(fd.value, 0, static_cast<off_t>(bytes)); code != 0) {
    errno = code;
    const Error error = cannot("no room for", name);
    shm_unlink(name.c_str());
    return error;
  }
  void* base = map(fd.value, bytes);
  if (base == MAP_FAILED) {
    const Error error = cannot("cannot map", name);
    shm_unlink(name.c_str());
    return error;
  }
  construct(base, size);
  auto region = std::make_shared<Region>(base, bytes, true);
  region->header().creator_birth.store(own_birth());
  region->header().creator_pid.store(getpid());
  region->header().ready.store(kRegionReady);
  return region;
}

// One attempt to join; nullptr while there is nothing (or only a leftover) to join.
Result<std::shared_ptr<Region>> try_join(const std::string& name, int size) {
  Fd fd{shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0)};
  if (fd.value < 0) {
    if (errno == ENOENT) return std::shared_ptr<Region>();
    return cannot("cannot open", name);
  }
  struct stat info{};
  if (fstat(fd.value, &info) != 0) return cannot("cannot inspect", name);
  if (info.st_size < static_cast<off_t>(sizeof(Slot))) return std::shared_ptr<Region>();
  void* base = map(fd.value, static_cast<size_t>(info.st_size));
  if (base == MAP_FAILED) return cannot("cannot map", name);
  auto region = std::make_shared<Region>(base, static_cast<size_t>(info.st_size), true);
  RegionHeader& header = region->header();
  if (header.ready.load() != kRegionReady || !creator_alive(header))
    return std::shared_ptr<Region>();
  if (header.size != static_cast<uint32_t>(size) ||
      static_cast<size_t>(info.st_size) != region_bytes(size)) {
    return Error{.message = "group " + name + " was created for " + std::to_string(header.size) +
                            " ranks, this rank expects " + std::to_string(size)};
  }
  return region;
}

}  // namespace

std::shared_ptr<Region> Region::anonymous(int size) {
  const size_t bytes = region_bytes(size);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  construct(base, size);
  return std::make_shared<Region>(base, bytes, false);
}

Result<std::shared_ptr<Region>> Region::shared(const std::string& name, int rank, int size,
                                               std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::shared_ptr<Region> region;
  while (true) {
    auto attempt = rank == 0 ? create(name, size) : try_join(name, size);
    if (!attempt.ok()) return attempt.error();
    region = std::move(*attempt);
    if (region) break;
    if (std::chrono::steady_clock::now() > deadline)
      return Error{.message = "rank 0 did not create the group " + name + " in time"};
    std::this_thread::sleep_for(kPollInterval);
  }
  region->slot(rank).birth.store(own_birth());
  region->slot(rank).pid.store(getpid());
  for (int r = 0; r < size; ++r) {
    while (region->slot(r).pid.load() == 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        if (rank == 0) shm_unlink(name.c_str());
        return Error{.message = "rank " + std::to_string(r) + " of " + std::to_string(size) +
                                " did not join the group " + name + " in time"};
      }
      std::this_thread::sleep_for(kPollInterval);
    }
  }
  if (rank == 0) shm_unlink(name.c_str());
  return region;
}

Region::~Region() {
  munmap(base_, bytes_);
}

Slot& Region::slot(int rank) {
  return *std::launder(reinterpret_cast<Slot*>(static_cast<unsigned char*>(base_) +
                                               sizeof(Slot) * static_cast<size_t>(rank + 1)));
}

bool process_alive(int32_t pid, uint64_t birth) {
  if (pid <= 0) return false;
  const ProcessState state = process_state(pid);
  return state.runs && state.birth == birth;
}

uint64_t own_birth() {
  return process_state(getpid()).birth;
}

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected, std::chrono::milliseconds timeout) {
  const timespec limit{timeout.count() / 1000, (timeout.count() % 1000) * 1'000'000};
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, expected, &limit, nullptr, 0);
}

void futex_wake_all(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace stallscope::comm
