// Which Python thread holds the interpreter's lock, read from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "record/python_runtime.h"
#include "record/remote_memory.h"

namespace stallscope {

/// The lock's place differs from build to build, so it is looked for by what it
/// holds: the switch interval of 5 ms, the thread that had it last, and a flag.
class PythonLock {
 public:
  /// struct _gil_runtime_state, the same from 3.8 to 3.14 in builds that have a lock.
  struct Words {
    uint64_t interval_us = 0;
    uint64_t last_holder = 0;
    uint32_t locked = 0;
    uint32_t padding = 0;
  };

  PythonLock(pid_t pid, const PythonRuntime& runtime) : memory_(pid), runtime_(runtime) {}

  /// Looks for the lock of the first interpreter, given its thread states. A few tries are
  /// made, because the lock is set up late; then it is given up.
  void find(uint64_t interpreter, std::span<const uint64_t> thread_states);
  bool found() const { return address_ != 0; }

  /// Where its words lie, for who reads them together with others; 0 = not found.
  uint64_t address() const { return address_; }

  /// True when a thread that sleeps on this futex waits for the lock: its words hold the condition
  /// and the mutex of those who wait.
  bool is_waited_for_at(uint64_t futex) const;

  /// The thread state of the holder, 0 when nobody holds it; nullopt when unknown.
  std::optional<uint64_t> holder() const;
  static std::optional<uint64_t> holder_of(const Words& words);

 private:
  RemoteMemory memory_;
  PythonRuntime runtime_;
  uint64_t address_ = 0;
  int tries_ = 0;
};

}  // namespace stallscope
