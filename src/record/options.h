// What the user asked of `stallscope run`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stallscope {

struct RecordOptions {
  std::string folder = "stallscope-report";  ///< where the report and the trace go
  std::vector<std::string> command;
  uint64_t delay_ms = 0;
  uint64_t duration_ms = 0;   ///< 0 = until the program ends
  std::string capture_range;  ///< record only while a range of this name is open; empty = always
  bool capture_profiler = false;  ///< record between cudaProfilerStart and cudaProfilerStop
  uint32_t steps = 0;             ///< whole steps to record; 0 = all
  std::string step_range;         ///< the range that marks a step; empty = the usual names
  uint64_t max_bytes = 0;         ///< of one process's segment; 0 = no limit
  std::string gpu = "light";      ///< none, light (a graph launch is one record) or full
  uint32_t sample_rate_hz = 200;  ///< Python stacks; 0 = off
  bool annotate = true;           ///< mark what PyTorch and JAX programs do
  bool force = false;             ///< an earlier run in the folder is deleted, not kept
  bool live = false;              ///< status line while the program runs
};

}  // namespace stallscope
