// A running thread's registers and the top of its stack, copied by the kernel
// at a moment we ask for: the thread is interrupted for a microsecond or so,
// but never stopped, and no call of its is cut short.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "record/native_walk.h"

namespace stallscope {

class ThreadMoment {
 public:
  /// Registers that keep their value across calls: what a caller had in them may still be there.
  static constexpr size_t kSavedRegisters = 6;
  struct Moment {
    Ns time = 0;  ///< CLOCK_MONOTONIC
    StackCopy copy;
    uint64_t saved[kSavedRegisters] = {};
  };

  /// `tid` 0 is the calling thread. nullptr where it is not permitted; `errno` says why.
  static std::unique_ptr<ThreadMoment> open(pid_t tid);
  ~ThreadMoment();
  ThreadMoment(const ThreadMoment&) = delete;
  ThreadMoment& operator=(const ThreadMoment&) = delete;

  /// Asks for one copy, taken within microseconds if the thread runs, else when it runs again.
  void request();
  /// The latest copy since the last call; nullptr when there is none. Good until the next call.
  const Moment* take();

 private:
  ThreadMoment() = default;
  bool map();

  int fd_ = -1;
  uint8_t* ring_ = nullptr;
  std::vector<uint8_t> stack_;
  Moment moment_;
};

}  // namespace stallscope
