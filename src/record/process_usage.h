// What /proc and the control groups say of one process, as totals since its begin.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace stallscope {

/// All times in ns since the process (or the control group) began.
struct ProcessUsage {
  Ns on_cpu = 0;         ///< all threads
  Ns delayed = 0;        ///< of the main thread: ready to run, but without a CPU
  Ns storage_wait = 0;   ///< waiting for block devices; 0 where the kernel does not account it
  bool stopped = false;  ///< by SIGSTOP or a tracer, now
};

/// nullopt when the process is gone.
std::optional<ProcessUsage> process_usage(pid_t pid);

/// Time for which the CPU quota held back the process's control group; nullopt where there is
/// no quota. Versions 1 and 2 of the control groups.
struct Throttling {
  uint64_t periods = 0;  ///< in which it was held back
  Ns time = 0;           ///< summed over its CPUs
};
std::optional<Throttling> throttling_of(pid_t pid);

/// Parses cpu.stat of either version; for tests too.
std::optional<Throttling> parse_throttling(std::string_view cpu_stat);

/// CPU time of the whole machine, from /proc/stat.
struct MachineUsage {
  Ns busy = 0, stolen = 0, storage_wait = 0;
};
MachineUsage machine_usage();

}  // namespace stallscope
