// Names of the counters that say what the machine did to a process.
#pragma once

#include <cstddef>
#include <string>

namespace stallscope::node {

// Shares of the time since the counter's last value, 0 to 1:
inline constexpr char kDelayed[] = "node.cpu_delayed";      ///< ready, but without a CPU
inline constexpr char kThrottled[] = "node.cpu_throttled";  ///< held back by a CPU quota
inline constexpr char kStorage[] = "node.storage_wait";     ///< waiting for block devices
inline constexpr char kStopped[] = "node.stopped";          ///< by a signal: 0 or 1
// CPUs:
inline constexpr char kOthers[] = "node.other_programs_cpus";  ///< used outside the recorded run
inline constexpr char kStolen[] = "node.stolen_cpus";          ///< that the hypervisor took

// Of each GPU, behind "gpuN.":
inline constexpr char kClock[] = "sm_clock_mhz";
inline constexpr char kMaxClock[] = "sm_clock_max_mhz";
inline constexpr char kReasons[] = "throttle_reasons";  ///< bits of nvmlClocksEventReasons
inline constexpr char kPower[] = "power_w";
inline constexpr char kMemory[] = "memory_used_bytes";
inline constexpr char kProcesses[] = "other_processes";

inline std::string gpu_counter(size_t gpu, const char* name) {
  return "gpu" + std::to_string(gpu) + "." + name;
}

}  // namespace stallscope::node
