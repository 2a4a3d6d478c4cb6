// What only several ranks together show: who is late, and who is slow.
#pragma once

#include <vector>

#include "analyze/summary.h"

namespace stallscope {

/// "collective-wait" and "straggler" observations of a merged run. A pure function of the merged
/// ranks and collectives.
std::vector<Observation> observe_across_ranks(const RunSummary& run);

}  // namespace stallscope
