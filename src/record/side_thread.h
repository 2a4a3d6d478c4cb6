// SideThread: what looks on while a program is recorded, and never harms it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "record/clock.h"

namespace stallscope {

/// A thread of the recorder beside its main one: it takes no signals, and an exception in it ends
/// it alone.
class SideThread {
 public:
  /// Runs body(*this), which returns soon after wait_until() gave false. `name` begins the note
  /// about an exception: "Python is sampled no longer".
  SideThread(std::string name, std::function<void(SideThread&)> body);
  ~SideThread() { stop(); }
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  /// For the body: sleeps until `time` of CLOCK_MONOTONIC; false when it is time to return.
  bool wait_until(Ns time);
  /// Ends the thread. A sentence when an exception had ended it before, else empty.
  std::string stop();

 private:
  void run(const std::function<void(SideThread&)>& body);

  std::string name_, note_;
  std::atomic<uint32_t> stopping_{
      0};               // a futex: one system call a wait, where a condition takes two
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace stallscope
