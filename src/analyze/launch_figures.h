// How a step launches: whether its kernels are shorter than the time between two launches.
#pragma once

#include "analyze/observation_builder.h"
#include "analyze/rank_context.h"

namespace stallscope {

/// Of the used steps, all together.
struct LaunchFigures {
  double kernels_per_step = 0;
  double mean_kernel_ns = 0;
  double mean_launch_ns = 0;
  double short_fraction = 0;  ///< share of the kernels shorter than the time between launches
  double graph_fraction = 0;  ///< share of the device work that graphs launched
};

LaunchFigures launch_figures(const RankContext& context);
/// Says them of a row.
void add_figures(const LaunchFigures& figures, ObservationBuilder& row);

}  // namespace stallscope
