// What the marks themselves cost: time in wrappers outside of what they wrap.
#pragma once

#include <stdint.h>

namespace stallscope::python {

/// Adds the time of its scope to what marks have cost in this process.
class OwnTime {
 public:
  OwnTime();
  ~OwnTime();
  OwnTime(const OwnTime&) = delete;
  OwnTime& operator=(const OwnTime&) = delete;

 private:
  uint64_t start_;
};

/// Nanoseconds in all scopes so far, without the interpreter's own call of a wrapper.
uint64_t own_time_ns();

}  // namespace stallscope::python
