#include "record/native_frames.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace stallscope {
namespace {

// While an instruction calls out, the interpreter keeps the address of the next one in a register
// that calls preserve, so it lies in the stack: at most this far behind (the instruction and its
// inline cache). A copy without it shows another call than the Python stack does.
constexpr uint64_t kLongestInstruction = 2 + 2 * 12;

// A copy taken later than this shows the thread after it had been off the CPU.
constexpr Ns kLatest = 1'000'000;

constexpr size_t kSleepingStack = 60 * 1024;

bool shows(const StackCopy& copy, uint64_t instruction, std::span<const uint64_t> registers) {
  return instruction != 0 &&
         copy.mentions(instruction + 2, instruction + kLongestInstruction, registers);
}

/// Stack pointer and instruction of a thread that sleeps; false when it runs.
bool sleeping_at(pid_t pid, pid_t tid, uint64_t& stack, uint64_t& instruction) {
  char path[64], text[256];
  std::snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", pid, tid);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t got = ::read(fd, text, sizeof text);
  ::close(fd);
  // "NUMBER ARGUMENTS... SP PC", "-1 SP PC" or "running"
  std::string_view line(text, got > 0 ? static_cast<size_t>(got) : 0);
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  const auto last_word = [&line](uint64_t& out) {
    const size_t at = line.rfind(" 0x");
    if (at == std::string_view::npos) return false;
    const char* const end = line.data() + line.size();
    const bool good = std::from_chars(line.data() + at + 3, end, out, 16).ec == std::errc();
    line = line.substr(0, at);
    return good;
  };
  return last_word(instruction) && last_word(stack) && stack != 0;
}

}  // namespace

void NativeFrames::ran(NativeLook& look) {
  look.asleep.clear();
  look.looked_asleep = false;
  look.asked = 0;
}

void NativeFrames::ask(pid_t tid, NativeLook& look, Ns now) {
  if (!permission_.wanted || !permission_.running) return;
  if (!look.moment) {
    if (permission_.open_moments >= permission_.most_moments) return;
    look.moment = ThreadMoment::open(tid);
    if (!look.moment) {
      if (errno == ESRCH) return;  // it has just ended
      if (permission_.open_moments > 0) {
        permission_.most_moments = permission_.open_moments;  // no more memory may be locked
        return;
      }
      permission_.running = false;
      permission_.reason = std::string("perf_event_open: ") + std::strerror(errno);
      return;
    }
    ++permission_.open_moments;
  }
  look.moment->request();
  look.asked = now;
}

std::span<const NativeFunction> NativeFrames::running(NativeLook& look, uint64_t instruction,
                                                      Ns now) {
  if (look.asked == 0) return {};
  const Ns asked = std::exchange(look.asked, 0);
  const ThreadMoment::Moment* moment = look.moment->take();
  if (moment == nullptr || moment->time < asked || moment->time - asked > kLatest ||
      !shows(moment->copy, instruction, moment->saved))
    return {};
  const std::vector<NativeFunction>& functions = walk_.functions(moment->copy, now);
  if (!functions.empty()) ++permission_.named;
  return functions;
}

std::span<const NativeFunction> NativeFrames::asleep(pid_t tid, NativeLook& look,
                                                     uint64_t instruction, Ns now, bool ask) {
  if (!permission_.wanted || !ask || look.looked_asleep) return look.asleep;
  look.looked_asleep = true;
  StackCopy copy;
  if (!sleeping_at(pid_, tid, copy.stack, copy.instruction)) return {};
  // Whole pages are read, up to where the stack ends.
  stack_.resize(kSleepingStack);
  struct iovec remote[kSleepingStack / kPage + 1];
  size_t count = 0, bytes = 0;
  for (uint64_t at = copy.stack; bytes < kSleepingStack; ++count) {
    const size_t piece = std::min<size_t>(kPage - at % kPage, kSleepingStack - bytes);
    remote[count] = {reinterpret_cast<void*>(at), piece};
    at += piece;
    bytes += piece;
  }
  const struct iovec local = {stack_.data(), stack_.size()};
  const ssize_t got = ::process_vm_readv(pid_, &local, 1, remote, count, 0);
  if (got <= 0) return {};
  copy.bytes = std::span(stack_).first(static_cast<size_t>(got));
  if (!shows(copy, instruction, {})) return {};
  look.asleep = walk_.functions(copy, now);
  if (!look.asleep.empty()) ++permission_.named;
  return look.asleep;
}

void NativeFrames::forget(NativeLook& look) {
  if (look.moment) --permission_.open_moments;
  look.moment.reset();
}

}  // namespace stallscope
