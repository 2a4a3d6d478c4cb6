// The definition of step classes, written down as slowly and plainly as can be,
// to check the fast analysis against.
#pragma once

#include <vector>

#include "analyze/summary.h"
#include "trace/trace.h"

namespace stallscope::oracle {

/// A step's device window and classes, from the host intervals alone.
struct StepTruth {
  bool has_window = false;
  Ns window_start = 0, window_end = 0;
  ClassTimes classes;
};

/// One entry per host interval, for one (process, device).
std::vector<StepTruth> step_classes(const Trace& trace, uint32_t process, int32_t device,
                                    const std::vector<std::pair<Ns, Ns>>& hosts);

/// Unions over the whole trace for one (process, device).
GpuTotals totals(const Trace& trace, uint32_t process, int32_t device);

}  // namespace stallscope::oracle
