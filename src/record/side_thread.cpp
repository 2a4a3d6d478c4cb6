#include "record/side_thread.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>
#include <exception>
#include <utility>

namespace stallscope {

SideThread::SideThread(std::string name, std::function<void(SideThread&)> body)
    : name_(std::move(name)), thread_([this, body = std::move(body)] { run(body); }) {}

void SideThread::run(const std::function<void(SideThread&)>& body) {
  // Signals are the main thread's business.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  try {
    body(*this);
  } catch (const std::exception& error) {
    note_ = name_ + ": " + error.what();
  }
}

bool SideThread::wait_until(Ns time) {
  const timespec until{.tv_sec = time / kSecond, .tv_nsec = time % kSecond};
  // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC.
  while (stopping_.load() == 0) {
    const long woken = ::syscall(SYS_futex, &stopping_, FUTEX_WAIT_BITSET_PRIVATE, 0, &until,
                                 nullptr, FUTEX_BITSET_MATCH_ANY);
    if (woken != 0 && errno != EINTR && errno != EAGAIN) break;
  }
  return stopping_.load() == 0;
}

std::string SideThread::stop() {
  stopping_.store(1);
  ::syscall(SYS_futex, &stopping_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  if (thread_.joinable()) thread_.join();
  return note_;
}

}  // namespace stallscope
