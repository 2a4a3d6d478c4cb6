// Memory of the recorder: never from malloc, since an event can come from
// anywhere, and a lock that never waits for long.
#pragma once

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // Linux 4.14
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace stallscope::collect {

/// Locks taken and mappings made in this process: what shows that the record
/// path needs neither.
inline uint64_t g_locks_taken = 0;
inline uint64_t g_maps_made = 0;

/// Zeroed private memory, or nullptr.
inline void* map_private(size_t bytes) {
  __atomic_add_fetch(&g_maps_made, 1, __ATOMIC_RELAXED);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Zeroed private memory that a forked child sees as zero again, however it was
/// forked: a child must never go on writing into its parent's file.
inline void* map_wiped_on_fork(size_t bytes, bool* wiped_by_kernel) {
  void* memory = map_private(bytes);
  *wiped_by_kernel = memory != nullptr && madvise(memory, bytes, MADV_WIPEONFORK) == 0;
  return memory;
}

inline void sleep_a_millisecond() {
  const timespec millisecond{0, 1'000'000};
  syscall(SYS_nanosleep, &millisecond, nullptr);
}

/// A lock for slow paths. Gives up rather than wait for ever: an event may come
/// from a signal handler that interrupted the holder.
class SpinLock {
 public:
  bool try_lock() { return __atomic_exchange_n(&held_, 1, __ATOMIC_ACQUIRE) == 0; }
  bool lock() {
    __atomic_add_fetch(&g_locks_taken, 1, __ATOMIC_RELAXED);
    for (int attempt = 0; attempt < kSpins + kYields + kSleeps; ++attempt) {
      if (try_lock()) return true;
      if (attempt < kSpins)
        pause();
      else if (attempt < kSpins + kYields)
        sched_yield();
      else
        // On a machine with more to do than cores the holder may wait for its turn behind many
        // others: yielding does not help it there, sleeping does.
        sleep_a_millisecond();
    }
    return false;
  }
  void unlock() { __atomic_store_n(&held_, 0, __ATOMIC_RELEASE); }

 private:
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  static constexpr int kSpins = 200, kYields = 2000, kSleeps = 200;
  int held_ = 0;
};

/// Holds a SpinLock for a scope, if it could be had.
class Locked {
 public:
  explicit Locked(SpinLock& lock) : lock_(lock), held_(lock.lock()) {}
  ~Locked() {
    if (held_) lock_.unlock();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  explicit operator bool() const { return held_; }

 private:
  SpinLock& lock_;
  bool held_;
};

}  // namespace stallscope::collect
