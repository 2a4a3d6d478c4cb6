#include "collect/helper.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/capture.h"
#include "collect/chunks.h"
#include "collect/clock.h"
#include "collect/modules.h"

namespace stallscope::collect {
namespace {

constexpr uint32_t kNone = 0, kRunning = 1, kStopping = 2;
constexpr int64_t kIdleNs = 50'000'000;
constexpr int64_t kClockPeriodNs = 500'000'000;
constexpr int64_t kModulesPeriodNs = 200'000'000;

void sleep_until_woken(Session& session, uint32_t seen) {
  const timespec timeout{0, kIdleNs};
  syscall(SYS_futex, &session.helper_wake, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
}

void* helper_main(void* argument) {
  auto& session = *static_cast<Session*>(argument);
  prctl(PR_SET_NAME, "stallscope");
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
  // The target's signals are the target's business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread;
  // On failure threads make their chunks themselves.
  if (pthread_create(&thread, &attributes, helper_main, &session) != 0)
    __atomic_store_n(&session.helper_state, kStopping, __ATOMIC_RELEASE);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void wake_helper(Session& session) {
  if (__atomic_load_n(&session.helper_state, __ATOMIC_ACQUIRE) == kNone) {
    start_helper(session);
    return;
  }
  __atomic_add_fetch(&session.helper_wake, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &session.helper_wake, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void stop_helper(Session& session) {
  if (__atomic_load_n(&session.helper_state, __ATOMIC_ACQUIRE) == kNone) return;
  __atomic_store_n(&session.helper_state, kStopping, __ATOMIC_RELEASE);
  __atomic_add_fetch(&session.helper_wake, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &session.helper_wake, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace stallscope::collect
