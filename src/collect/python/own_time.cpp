#include "collect/python/own_time.h"

#include <time.h>

namespace stallscope::python {
namespace {

uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// The counter is read twice per mark and costs a third of a clock reading.
uint64_t counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return now_ns();
#endif
}

struct Begin {
  uint64_t count = counter(), ns = now_ns();
};
const Begin g_begin;
uint64_t g_own = 0;

}  // namespace

OwnTime::OwnTime() : start_(counter()) {}

OwnTime::~OwnTime() {
  __atomic_add_fetch(&g_own, counter() - start_, __ATOMIC_RELAXED);
}

uint64_t own_time_ns() {
  const uint64_t counts = counter() - g_begin.count, ns = now_ns() - g_begin.ns;
  if (counts == 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(__atomic_load_n(&g_own, __ATOMIC_RELAXED)) *
                               static_cast<double>(ns) / static_cast<double>(counts));
}

}  // namespace stallscope::python
