// Checks an analysis against the oracle, per (process, device), step and class.
#pragma once

#include <doctest/doctest.h>

#include "analyze/analyze.h"
#include "oracle.h"

namespace stallscope {

/// Returns how many steps were compared.
inline size_t compare_with_oracle(const Trace& trace, const std::vector<RankSummary>& summaries) {
  size_t compared = 0;
  for (const RankSummary& summary : summaries) {
    if (summary.view != RankView::device) continue;
    CAPTURE(summary.pid);
    CAPTURE(summary.device);
    uint32_t process = 0;
    while (trace.processes[process].pid != summary.pid) ++process;
    const GpuTotals totals = oracle::totals(trace, process, summary.device);
    CHECK(summary.gpu.window == totals.window);
    CHECK(summary.gpu.busy == totals.busy);
    CHECK(summary.gpu.compute == totals.compute);
    CHECK(summary.gpu.communication == totals.communication);
    CHECK(summary.gpu.exposed_communication == totals.exposed_communication);
    CHECK(summary.gpu.copy == totals.copy);
    CHECK(summary.gpu.kernels == totals.kernels);
    CHECK(summary.gpu.collective_kernels == totals.collective_kernels);
    std::vector<std::pair<Ns, Ns>> hosts;
    for (const Step& step : summary.steps) hosts.emplace_back(step.host_start, step.host_end);
    const auto truth = oracle::step_classes(trace, process, summary.device, hosts);
    for (size_t i = 0; i < truth.size(); ++i) {
      const Step& step = summary.steps[i];
      if (step.use == StepUse::overlapping) continue;
      CAPTURE(i);
      CHECK(step.classes.total() == step.window_end - step.window_start);
      if (!truth[i].has_window) continue;
      ++compared;
      CHECK(step.window_start == truth[i].window_start);
      CHECK(step.window_end == truth[i].window_end);
      for (size_t c = 0; c < kStepClasses; ++c) {
        CAPTURE(to_string(static_cast<StepClass>(c)));
        CHECK(step.classes.ns[c] == truth[i].classes.ns[c]);
      }
    }
  }
  return compared;
}

}  // namespace stallscope
