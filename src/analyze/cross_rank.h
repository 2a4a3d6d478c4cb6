// What only several ranks together show: who is late, and who is slow.
#pragma once

#include <vector>

#include "analyze/rank_groups.h"
#include "analyze/summary.h"

namespace stallscope {

/// "collective-wait", "slow-link" and "straggler" observations of a merged run. A pure function of
/// the merged ranks and collectives.
std::vector<Observation> observe_across_ranks(const RunSummary& run, const RankGroups& groups);

/// Tells, in each rank's wait table, the exposed communication that was waiting for a late rank
/// from the rest. What an earlier merge told apart is joined again first.
void split_communication_waits(RunSummary& run, const RankGroups& groups);

/// Sets what each rank's collectives take once the last rank has come ("transfer_ns").
void measure_transfers(RunSummary& run, const RankGroups& groups);

}  // namespace stallscope
