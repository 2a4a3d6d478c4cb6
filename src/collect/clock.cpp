#include "collect/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace stallscope::collect {

bool g_use_tsc = false;

namespace {

// Invariant TSC: the bit from which Linux derives constant_tsc and nonstop_tsc
// (CPUID 8000_0007h, EDX bit 8; Intel SDM vol. 3, 18.17.1).
bool processor_has_invariant_tsc() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#else
  return false;
#endif
}

// The kernel takes "tsc" off this list when it finds the counters of two
// processors apart. A list that cannot be read says nothing.
bool kernel_distrusts_tsc() {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
                      O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[256];
  const ssize_t bytes = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (bytes <= 0) return false;
  text[bytes] = '\0';
  return strstr(text, "tsc") == nullptr;
}

}  // namespace

segment::ClockSource choose_clock(bool forbid_tsc) {
  g_use_tsc = !forbid_tsc && processor_has_invariant_tsc() && !kernel_distrusts_tsc();
  return g_use_tsc ? segment::ClockSource::tsc : segment::ClockSource::monotonic;
}

segment::ClockPoint read_clocks() {
  segment::ClockPoint best{};
  uint64_t best_width = ~0ULL;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const uint64_t before = ticks();
    const int64_t monotonic = clock_ns(CLOCK_MONOTONIC);
    const uint64_t after = ticks();
    const int64_t realtime = clock_ns(CLOCK_REALTIME);
    const int64_t again = clock_ns(CLOCK_MONOTONIC);
    if (after - before >= best_width) continue;
    best_width = after - before;
    best.ticks = before + best_width / 2;
    best.monotonic_ns = monotonic;
    // The realtime reading lies between two monotonic ones: move it back to the first.
    best.realtime_ns = realtime - (again - monotonic) / 2;
    best.width_ns = again - monotonic;
  }
  return best;
}

}  // namespace stallscope::collect
