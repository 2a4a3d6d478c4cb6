// RankContext: what is known about one rank while its observations are made.
#pragma once

#include <vector>

#include "analyze/breakdown.h"
#include "analyze/device_usage.h"
#include "analyze/process_index.h"
#include "analyze/steps.h"
#include "analyze/summary.h"

namespace stallscope {

struct RankContext {
  const Trace& trace;
  const AnalyzeOptions& options;
  const ProcessIndex& index;
  const std::vector<uint8_t>& natures;       ///< by StringId: see range_natures
  const std::vector<bool>& collective_name;  ///< by StringId
  const DeviceWork* work = nullptr;          ///< null: host view
  DeviceUsage usage;
  StepMarks marks;
  StepWork step_work;  ///< device view only
  std::vector<Step> steps;
  std::vector<uint32_t> used;       ///< indexes of used steps
  std::vector<uint32_t> used_rank;  ///< by step: its place among the used ones, or kNoIndex
  std::vector<IdlePiece> idle;      ///< device view only, by start
  Ns step_mean = 0;                 ///< over used steps; 0 when there are none

  /// The step whose host interval holds `time`, or kNoIndex.
  uint32_t step_of_host(Ns time) const;
  /// The used step's place among used steps for a host time, or kNoIndex.
  uint32_t used_at(Ns time) const;
  /// True before the first steady step began on the host.
  bool in_startup(Ns time) const;
};

}  // namespace stallscope
