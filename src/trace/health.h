// TraceHealth: what a reader must know before believing a trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"

namespace stallscope {

/// A window in which events are missing for a known reason.
struct CaptureHole {
  Ns start = 0;
  Ns duration = 0;
  std::string reason;
};

/// Everything the trust section of a report states about one process's trace.
/// Optional numbers are -1 when unknown.
struct TraceHealth {
  uint64_t events = 0;
  uint64_t bytes_on_disk = 0;
  uint64_t lost_records = 0;      ///< dropped: no room, or by the producer
  uint64_t discarded_oldest = 0;  ///< given up to stay within --max-size
  /// False when the capture could not have seen device work, so that its absence proves nothing
  /// (a profiler that was set to record the host only).
  bool device_visible = true;
  bool cut_short = false;                   ///< the process ended without closing its files
  std::map<std::string, uint64_t> repairs;  ///< what the importer mended -> how often
  std::vector<CaptureHole> holes;
  std::vector<std::string> warnings;  ///< one sentence each, with its remedy
  std::string clock_source;           ///< "tsc", "monotonic", "kineto", ...
  /// True when stacks have the first line of each function in place of the line that ran.
  bool stacks_name_functions = false;
  double clock_residual_ns = -1;  ///< largest error of the clock conversion
  double recorder_own_ns = -1;    ///< time the recorder spent in the process
};

}  // namespace stallscope
