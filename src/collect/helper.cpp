#include "collect/helper.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/background.h"
#include "collect/capture.h"
#include "collect/chunks.h"
#include "collect/clock.h"
#include "collect/modules.h"

namespace stallscope::collect {
namespace {

constexpr uint32_t kNone = 0, kRunning = 1, kStopping = 2;
constexpr size_t kStackBytes = 256 * 1024;
constexpr int64_t kIdleNs = 200'000'000;
constexpr int64_t kCaptureNs = 50'000'000;  // how late a delay or duration may end
constexpr int64_t kClockPeriodNs = 500'000'000;
constexpr int64_t kModulesPeriodNs = 200'000'000;

void sleep_until_woken(Session& session, uint32_t seen) {
  const bool timed = g_options.delay_ms > 0 || g_options.duration_ms > 0;
  const timespec timeout{0, timed ? kCaptureNs : kIdleNs};
  syscall(SYS_futex, &session.helper_wake, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
}

// A table of descriptors of its own: the files this thread opens never take a
// number that the target expects for one of its own, and a target that closes
// all descriptors does not close ours. The copies of the target's are given up
// at once, so that no pipe stays open because of us. On a kernel without
// close_range (before 5.9) the table stays shared.
void leave_descriptors() {
#ifdef SYS_close_range
  constexpr unsigned kUnshare = 1U << 1;  // CLOSE_RANGE_UNSHARE
  syscall(SYS_close_range, 0U, ~0U, kUnshare);
#endif
}

void* helper_main(void* argument) {
  auto& session = *static_cast<Session*>(argument);
  prctl(PR_SET_NAME, "stallscope");
  leave_descriptors();
  int64_t next_clock = 0, next_modules = 0;
  while (__atomic_load_n(&session.helper_state, __ATOMIC_ACQUIRE) == kRunning) {
    const uint32_t seen = __atomic_load_n(&session.helper_wake, __ATOMIC_ACQUIRE);
    work_ahead(session);
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    update_capture(session, now);
    if (now >= next_clock) {
      add_clock_point(session);
      next_clock = now + kClockPeriodNs;
    }
    if (now >= next_modules || __atomic_load_n(&session.modules_stale, __ATOMIC_RELAXED) != 0) {
      note_modules(session);
      next_modules = now + kModulesPeriodNs;
    }
    session.header->own_helper_ns = static_cast<uint64_t>(clock_ns(CLOCK_THREAD_CPUTIME_ID));
    sleep_until_woken(session, seen);
  }
  return nullptr;
}

}  // namespace

void start_helper(Session& session) {
  uint32_t none = kNone;
  if (!__atomic_compare_exchange_n(&session.helper_state, &none, kRunning, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED))
    return;
  // On failure threads make their chunks themselves.
  if (!start_background(helper_main, &session, kStackBytes))
    __atomic_store_n(&session.helper_state, kStopping, __ATOMIC_RELEASE);
}

void wake_helper(Session& session) {
  if (__atomic_load_n(&session.helper_state, __ATOMIC_ACQUIRE) == kNone) {
    start_helper(session);
    return;
  }
  __atomic_add_fetch(&session.helper_wake, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &session.helper_wake, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool await_helper(Session& session) {
  // A chunk takes some tens of microseconds; a helper that gets no processor, longer.
  constexpr int kAttempts = 2000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (__atomic_load_n(&session.helper_state, __ATOMIC_ACQUIRE) != kRunning ||
        __atomic_load_n(&session.no_room_until_ns, __ATOMIC_RELAXED) != 0)
      return false;
    if (__atomic_load_n(&session.ready_count, __ATOMIC_ACQUIRE) > 0) return true;
    sched_yield();
  }
  return false;
}

void stop_helper(Session& session) {
  if (__atomic_load_n(&session.helper_state, __ATOMIC_ACQUIRE) == kNone) return;
  __atomic_store_n(&session.helper_state, kStopping, __ATOMIC_RELEASE);
  __atomic_add_fetch(&session.helper_wake, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &session.helper_wake, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace stallscope::collect
