#include "record/side_thread.h"

#include <algorithm>
#include <chrono>
#include <csignal>
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
  std::unique_lock<std::mutex> lock(mutex_);
  const Ns left = std::max<Ns>(0, time - clock_now(CLOCK_MONOTONIC));
  wake_.wait_for(lock, std::chrono::nanoseconds(left), [this] { return stopping_; });
  return !stopping_;
}

std::string SideThread::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  return note_;
}

}  // namespace stallscope
