// Where steps begin on the host: by ranges that mark them, by calls made once
// per step, or by the period of the launch sequence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/process_index.h"
#include "analyze/summary.h"

namespace stallscope {

struct StepMarks {
  StepSource source = StepSource::none;
  std::string marker;           ///< the name of the ranges, without their number
  uint32_t thread = kNoIndex;   ///< index of the thread that steps run on
  std::vector<Interval> hosts;  ///< one per step: from its start to the next one's
  bool overlapping = false;     ///< the marking ranges overlap each other
  std::string failure;          ///< why none were found; empty when some were
};

/// Steps of `work` (null: of a process without device work). With several marked threads, the one
/// that launched most of this device's work counts.
StepMarks find_steps(const ProcessIndex& index, const DeviceWork* work,
                     const AnalyzeOptions& options);

/// By the launch sequence alone. Abstains (failure set) unless one period explains it.
StepMarks find_steps_by_period(const ProcessIndex& index, const DeviceWork& work);

enum class CallEvidence : uint8_t {
  step,    ///< made once per step: an optimizer's step, a jitted function
  likely,  ///< made once per step by most loops: a backward pass
};

/// By calls that a training loop makes once per step, where those are marked but steps are not.
/// Abstains (failure set) when there are too few.
StepMarks find_steps_by_calls(const ProcessIndex& index, CallEvidence evidence);

}  // namespace stallscope
