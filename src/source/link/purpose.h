// What a project is there for: whether anything in it trains.
#pragma once

#include "source/link/call_graph.h"

namespace stallscope {

/// Whether a project of Python runs trained models and trains none: it has functions that want no
/// gradients, and nowhere names an optimiser, a loss, a gradient or what trains for it.
bool only_infers(const CallGraph& graph);

/// Whether a program wraps models in DataParallel: forward() finds its batch on the device.
bool scatters_batches(const CallGraph& graph);

}  // namespace stallscope
