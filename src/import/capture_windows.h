// The times between cudaProfilerStart and cudaProfilerStop, to which a recording was bounded.
#pragma once

#include <vector>

#include "base/units.h"
#include "trace/health.h"

namespace stallscope {

/// On the trace's clock.
struct CaptureWindow {
  Ns start = 0;
  Ns end = 0;  ///< kOpenEnd: not closed before the recording ended
};
inline constexpr Ns kOpenEnd = INT64_MAX;

/// In order of time, without those that overlap: several processes may have said the same.
std::vector<CaptureWindow> merged(std::vector<CaptureWindow> windows);

/// True when `time` lies in one of `windows`, which merged() gave.
bool in_window(const std::vector<CaptureWindow>& windows, Ns time);

/// States `windows`, which merged() gave: in a sentence, and the time between them as holes.
void state_windows(const std::vector<CaptureWindow>& windows, TraceHealth& health);

}  // namespace stallscope
