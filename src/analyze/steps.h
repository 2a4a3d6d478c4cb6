// Steps of one device: host intervals, device windows, and which of them count.
#pragma once

#include "analyze/process_index.h"
#include "analyze/step_marks.h"

namespace stallscope {

/// Joins activities with steps: each belongs to the step whose host interval holds its launch.
struct StepWork {
  std::vector<uint32_t> step_of;     ///< by position in DeviceWork::activities; kNoIndex = none
  std::vector<Step> steps;           ///< windows and use filled; classes not yet
  std::vector<uint32_t> work_count;  ///< activities per step
  size_t unlaunched = 0;             ///< activities whose launch is not in the trace
  bool overlapping = false;          ///< a step's first activity precedes that of the step before
};

/// Windows: from a step's first activity to the next step's first; of the last step, to the end of
/// its last activity.
StepWork assign_steps(const Trace& trace, const DeviceWork& work, const StepMarks& marks);

/// Steps of a process without device work: windows are the host intervals.
std::vector<Step> host_steps(const StepMarks& marks);

/// Decides which steps enter statistics: not the first, the last, those in a hole of the capture,
/// those with work launched before it, nor the warm-up.
void mark_use(const Trace& trace, std::vector<Step>& steps);

/// The steps that enter statistics.
std::vector<uint32_t> used_steps(const std::vector<Step>& steps);

}  // namespace stallscope
