// The system's clocks, as nanoseconds.
#pragma once

#include <ctime>

#include "base/units.h"

namespace stallscope {

/// Nanoseconds of one of the system's clocks, such as CLOCK_MONOTONIC.
inline Ns clock_now(clockid_t clock) {
  struct timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<Ns>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace stallscope
