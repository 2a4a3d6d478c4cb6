// The recorder's clock: the time-stamp counter where it can be trusted, else
// CLOCK_MONOTONIC. Conversion happens offline, from clock points.
#pragma once

#include <time.h>

#include "trace/segment_format.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace stallscope::collect {

inline int64_t clock_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Set once before the first event: 1 = ticks() reads the time-stamp counter.
extern bool g_use_tsc;

inline uint64_t ticks() {
#if defined(__x86_64__)
  if (__builtin_expect(g_use_tsc, 1)) return __rdtsc();
#endif
  return static_cast<uint64_t>(clock_ns(CLOCK_MONOTONIC));
}

/// Decides which clock to use. `forbid_tsc` forces CLOCK_MONOTONIC.
segment::ClockSource choose_clock(bool forbid_tsc);

/// Reads all clocks at nearly one instant: the narrowest of several tries.
segment::ClockPoint read_clocks();

}  // namespace stallscope::collect
