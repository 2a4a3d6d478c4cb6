#include "analyze/launch_figures.h"

#include <algorithm>

namespace stallscope {

LaunchFigures launch_figures(const RankContext& context) {
  const Trace& trace = context.trace;
  const DeviceWork& work = *context.work;
  double kernels = 0, kernel_ns = 0, launch_ns = 0, launches = 0, shorter = 0, graphs = 0;
  EventId previous = kNoEvent;
  for (size_t i = 0; i < work.activities.size(); ++i) {
    const uint32_t step = context.step_work.step_of[i];
    if (step == kNoIndex || context.used_rank[step] == kNoIndex) continue;
    const EventId id = work.activities[i], call = work.launches[i];
    ++kernels;
    kernel_ns += static_cast<double>(trace.durations()[id]);
    if (call == kNoEvent) continue;  // its call was not recorded
    graphs += static_cast<ApiCall>(trace.details()[call]) == ApiCall::graph_launch;
    if (call == previous) continue;
    ++launches;
    launch_ns += static_cast<double>(trace.durations()[call]);
    if (previous != kNoEvent)
      shorter += trace.durations()[id] < trace.starts()[call] - trace.starts()[previous];
    previous = call;
  }
  const auto steps = static_cast<double>(std::max<size_t>(context.used.size(), 1));
  return {.kernels_per_step = kernels / steps,
          .mean_kernel_ns = kernel_ns / std::max(kernels, 1.0),
          .mean_launch_ns = launch_ns / std::max(launches, 1.0),
          .short_fraction = shorter / std::max(launches, 1.0),
          .graph_fraction = graphs / std::max(kernels, 1.0)};
}

void add_figures(const LaunchFigures& figures, ObservationBuilder& row) {
  row.numbers["kernels_per_step"] = figures.kernels_per_step;
  row.numbers["mean_kernel_ns"] = figures.mean_kernel_ns;
  row.numbers["mean_launch_ns"] = figures.mean_launch_ns;
  row.numbers["short_fraction"] = figures.short_fraction;
  row.numbers["graph_fraction"] = figures.graph_fraction;
}

}  // namespace stallscope
