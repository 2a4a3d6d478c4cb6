#include "record/thread_moment.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace stallscope {
namespace {

constexpr uint64_t bit(int number) {
  return 1ULL << number;
}
// In the order of their numbers, which is the order in a record.
constexpr int kRegisters[] = {PERF_REG_X86_BX,  PERF_REG_X86_BP,  PERF_REG_X86_SP,
                              PERF_REG_X86_IP,  PERF_REG_X86_R12, PERF_REG_X86_R13,
                              PERF_REG_X86_R14, PERF_REG_X86_R15};
constexpr size_t kRegisterCount = std::size(kRegisters);

constexpr uint64_t register_mask() {
  uint64_t mask = 0;
  for (const int number : kRegisters) mask |= bit(number);
  return mask;
}

// Enough to reach the interpreter below most libraries (NumPy's calls of LAPACK take more than
// 16 KB, those of BLAS more than 32), and the most that a record has room for. What the thread has
// not is not copied. A power of two holds one such record.
constexpr uint32_t kStackBytes = 60 * 1024;
constexpr size_t kRingBytes = 64 * 1024;

int open_event(pid_t tid, bool with_kernel) {
  struct perf_event_attr event;
  std::memset(&event, 0, sizeof event);
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_CPU_CLOCK;
  // The first tick of the event's clock is what we ask for. Where ticks inside the kernel do not
  // count it goes on ticking there: seldom enough not to be felt.
  event.sample_period = with_kernel ? 10'000 : 100'000;  // ns
  event.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  event.sample_regs_user = register_mask();
  event.sample_stack_user = kStackBytes;
  event.disabled = 1;
  event.exclude_kernel = with_kernel ? 0 : 1;
  event.exclude_hv = 1;
  event.use_clockid = 1;
  event.clockid = CLOCK_MONOTONIC;
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &event, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

std::unique_ptr<ThreadMoment> ThreadMoment::open(pid_t tid) {
  std::unique_ptr<ThreadMoment> moment(new ThreadMoment);
  moment->fd_ = open_event(tid, true);
  if (moment->fd_ < 0 && (errno == EACCES || errno == EPERM)) moment->fd_ = open_event(tid, false);
  return moment->fd_ >= 0 && moment->map() ? std::move(moment) : nullptr;
}

bool ThreadMoment::map() {
  void* ring = ::mmap(nullptr, kPage + kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (ring == MAP_FAILED) return false;
  ring_ = static_cast<uint8_t*>(ring);
  return true;
}

ThreadMoment::~ThreadMoment() {
  const int error = errno;
  if (ring_ != nullptr) ::munmap(ring_, kPage + kRingBytes);
  if (fd_ >= 0) ::close(fd_);
  errno = error;
}

void ThreadMoment::request() {
  ::ioctl(fd_, PERF_EVENT_IOC_REFRESH, 1);
}

const ThreadMoment::Moment* ThreadMoment::take() {
  auto* head = reinterpret_cast<perf_event_mmap_page*>(ring_);
  const uint64_t end = std::atomic_ref(head->data_head).load(std::memory_order_acquire);
  uint64_t at = head->data_tail;
  const uint8_t* data = ring_ + kPage;
  const auto copy = [&](uint64_t from, void* into, size_t bytes) {
    const size_t begin = from % kRingBytes, first = std::min(bytes, kRingBytes - begin);
    std::memcpy(into, data + begin, first);
    std::memcpy(static_cast<uint8_t*>(into) + first, data, bytes - first);
  };
  uint64_t sample = 0;
  size_t sample_bytes = 0;
  while (end - at >= sizeof(perf_event_header) && end - at <= kRingBytes) {
    perf_event_header record;
    copy(at, &record, sizeof record);
    if (record.size < sizeof record || record.size > end - at) break;
    if (record.type == PERF_RECORD_SAMPLE) {
      sample = at;
      sample_bytes = record.size;
    }
    at += record.size;
  }
  // Header, time, abi, registers, bytes of stack, stack, of which were there.
  struct Begin {
    perf_event_header header;
    uint64_t time, abi, registers[kRegisterCount], bytes;
  } begin;
  bool found = sample_bytes >= sizeof begin + sizeof(uint64_t);
  if (found) copy(sample, &begin, sizeof begin);
  found = found && begin.abi != PERF_SAMPLE_REGS_ABI_NONE && begin.bytes > 0 &&
          begin.bytes <= sample_bytes - sizeof begin - sizeof(uint64_t);
  if (found) {
    // A record has room for the largest stack; what was there is mostly much less.
    uint64_t there = 0;
    copy(sample + sizeof begin + begin.bytes, &there, sizeof there);
    stack_.resize(std::min(there, begin.bytes));
    copy(sample + sizeof begin, stack_.data(), stack_.size());
  }
  std::atomic_ref(head->data_tail).store(end, std::memory_order_release);
  if (!found) return nullptr;
  moment_ = {};
  moment_.time = static_cast<Ns>(begin.time);
  moment_.copy.frame = begin.registers[1];
  moment_.copy.stack = begin.registers[2];
  moment_.copy.instruction = begin.registers[3];
  moment_.copy.bytes = stack_;
  for (size_t i = 0, saved = 0; i < kRegisterCount; ++i)
    if (i != 2 && i != 3) moment_.saved[saved++] = begin.registers[i];
  return &moment_;
}

}  // namespace stallscope
