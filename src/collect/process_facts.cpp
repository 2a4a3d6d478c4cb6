#include "collect/process_facts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collect/text.h"

namespace stallscope::collect {
namespace {

// One launcher's variables; a rank counts only when its size is there too.
struct Launcher {
  const char* rank;
  const char* local_rank;
  const char* world_size;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "LOCAL_RANK", "WORLD_SIZE"},  // torchrun and its kin
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},  // MPICH, Intel MPI
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
};

ssize_t read_file(const char* path, char* buffer, size_t capacity) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t used = 0;
  while (used < capacity) {
    const ssize_t bytes = read(fd, buffer + used, capacity - used);
    if (bytes <= 0) break;
    used += static_cast<size_t>(bytes);
  }
  close(fd);
  return static_cast<ssize_t>(used);
}

// Field `number` (from 3) of /proc/self/stat; fields after the command's ')'.
uint64_t stat_field(int number) {
  char text[1024];
  const ssize_t bytes = read_file("/proc/self/stat", text, sizeof(text) - 1);
  if (bytes <= 0) return 0;
  text[bytes] = '\0';
  const char* field = strrchr(text, ')');
  for (int at = 2; field != nullptr && at < number; ++at) {
    field = strchr(field + 1, ' ');
  }
  return field == nullptr ? 0 : static_cast<uint64_t>(parse_number(field + 1, 0));
}

constexpr int kThreadsField = 20;
constexpr int kStartTimeField = 22;

void find_rank(segment::FileHeader& header) {
  header.rank = -1;
  header.local_rank = -1;
  header.world_size = 0;
  for (const Launcher& launcher : kLaunchers) {
    const int64_t rank = parse_number(getenv(launcher.rank), -1);
    const int64_t size = parse_number(getenv(launcher.world_size), 0);
    if (rank < 0 || size <= rank || size > INT32_MAX) continue;
    header.rank = static_cast<int32_t>(rank);
    header.world_size = static_cast<int32_t>(size);
    header.local_rank = static_cast<int32_t>(parse_number(getenv(launcher.local_rank), -1));
    return;
  }
}

}  // namespace

void describe_process(segment::FileHeader& header) {
  header.pid = getpid();
  header.parent_pid = getppid();
  header.process_start = stat_field(kStartTimeField);
  find_rank(header);
  utsname names;
  if (uname(&names) == 0) TextBuilder(header.host, sizeof header.host).add(names.nodename);
  const ssize_t bytes = read_file("/proc/self/cmdline", header.command, sizeof header.command - 1);
  header.command[bytes > 0 ? bytes : 0] = '\0';
}

void mark_replaced_program(const Session& session) {
  for (int suffix = 0; suffix < 100; ++suffix) {
    char path[sizeof session.path];
    TextBuilder text(path, sizeof path);
    text.add(g_options.folder).add("/").add_number(session.pid);
    if (suffix > 0) text.add("-").add_number(suffix);
    text.add(segment::kFileSuffix);
    if (strcmp(path, session.path) == 0) return;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return;
    void* memory = mmap(nullptr, segment::kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const off_t size = lseek(fd, 0, SEEK_END);
    close(fd);
    if (memory == MAP_FAILED) return;
    auto* header = static_cast<segment::FileHeader*>(memory);
    // A process keeps its id and its start time over an exec.
    if (size >= static_cast<off_t>(segment::kHeaderBytes) && header->magic == segment::kMagic &&
        header->state == segment::State::open && header->pid == session.pid &&
        header->process_start == session.header->process_start)
      header->state = segment::State::execed;
    munmap(memory, segment::kHeaderBytes);
  }
}

bool may_start_thread() {
  return dlsym(RTLD_DEFAULT, "Py_IsInitialized") == nullptr || stat_field(kThreadsField) > 1;
}

}  // namespace stallscope::collect
