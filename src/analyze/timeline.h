// Small timelines: around one event, and of a whole representative step.
#pragma once

#include "analyze/rank_context.h"
#include "analyze/summary.h"

namespace stallscope {

/// A short window around an event: its own thread and the streams of the rank's device.
Timeline timeline_around(const RankContext& context, EventId event);

/// The used step whose length is the median, with its idle classes; at most about 3,000 slices,
/// the shortest left out first.
Timeline representative_timeline(const RankContext& context);

}  // namespace stallscope
