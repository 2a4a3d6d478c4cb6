// Queue depth: how much device work was launched and had not ended, over time.
#pragma once

#include "analyze/process_index.h"
#include "analyze/summary.h"

namespace stallscope {

/// Over the whole trace of one device. An activity counts from the start of the call that launched
/// it; one whose call is not in the trace does not count. Empty when none has a call.
QueueDepth queue_depth(const Trace& trace, const DeviceWork& work);

}  // namespace stallscope
