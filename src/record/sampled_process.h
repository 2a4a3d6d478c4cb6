// One process whose Python stacks are sampled.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "record/python_stacks.h"
#include "trace/sample_file.h"

namespace stallscope {

/// Samples all Python threads of a process into its file.
class SampledProcess {
 public:
  SampledProcess(pid_t pid, const PythonRuntime& runtime, const std::string& folder);
  ~SampledProcess();
  SampledProcess(SampledProcess&&) = default;
  SampledProcess& operator=(SampledProcess&&) = delete;

  /// Looks for threads that have come and gone.
  void refresh_threads();
  /// Takes one sample of each thread at `now`. A sample lasts until the next
  /// one of its thread, at most `longest`. Returns how many were written.
  size_t sample(Ns now, Ns longest);
  void flush();

 private:
  struct Thread {
    PythonThread thread;
    int schedule_file = -1;                  ///< /proc/PID/task/TID/schedstat, kept open
    uint64_t on_cpu_ns = 0, delayed_ns = 0;  ///< when it was last looked at
    bool has_lock = false;                   ///< Python's, when the stack was taken
    bool seen = false;                       ///< the next fields hold a sample
    Ns start = 0;
    uint32_t stack = 0;
    bool has_stack = false;
  };
  /// What the kernel's scheduler says of a thread since the last look.
  struct CpuUse {
    bool known = false;
    uint64_t on_cpu_ns = 0, delayed_ns = 0;
  };
  static CpuUse cpu_use(Thread& thread);
  static SampleState state_of(const Thread& thread, const CpuUse& use, Ns period);
  bool take_stack(Thread& thread);

  pid_t pid_;
  PythonStacks stacks_;
  SampleWriter writer_;
  std::string path_;
  std::map<pid_t, Thread> threads_;
  std::map<std::vector<std::pair<uint64_t, int64_t>>, uint32_t> known_stacks_;
};

}  // namespace stallscope
