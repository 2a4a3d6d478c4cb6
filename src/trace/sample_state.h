// What a sampled thread did while a sample lasted: the detail of a sample event.
#pragma once

#include <cstdint>
#include <string_view>

namespace stallscope {

enum class SampleState : uint8_t {
  unknown,
  python,          ///< on a CPU, holding the interpreter's lock
  native,          ///< on a CPU without the lock: in a library that let go of it
  waiting,         ///< asleep: for a lock, a file, another process
  delayed,         ///< ready to run, but other threads had the CPUs
  python_delayed,  ///< the same, holding the interpreter's lock
  lock_wait,       ///< asleep until another thread gives the interpreter's lock away
};

/// As written to sample files, by SampleState.
inline constexpr std::string_view kSampleStateNames[] = {
    "unknown", "python", "native", "waiting", "delayed", "python-delayed", "lock-wait"};

}  // namespace stallscope
