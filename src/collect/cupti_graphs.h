// CUDA graphs: which line captured each node, through clones and instantiation.
#pragma once

#include "collect/cupti_activity.h"

namespace stallscope::collect {

/// Asks CUPTI for what happens to graphs. False when its version cannot tell.
bool trace_graphs(const CuptiLibrary& cupti, CUpti_SubscriberHandle subscriber);

/// A resource callback: a node was captured or cloned, or a graph made executable.
/// On the thread that did it, inside its call.
void on_graph(const CuptiLibrary& cupti, CUpti_CallbackId what, const CUpti_ResourceData& resource);

/// The stack under which a node was captured; 0 = unknown.
uint32_t capture_stack(uint64_t node_id);

}  // namespace stallscope::collect
