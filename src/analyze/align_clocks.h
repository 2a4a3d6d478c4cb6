// Clocks of ranks, aligned where their collectives end.
#pragma once

#include <string>
#include <vector>

#include "analyze/rank_groups.h"
#include "analyze/summary.h"

namespace stallscope {

/// Sets every rank's clock_offset (its clock minus the first rank's: the median over the
/// collectives that both took part in, or over those with a rank between them) and says what that
/// leaves over. `groups` are those of the run.
void align_clocks(RunSummary& run, const RankGroups& groups);

/// One sentence per group whose ranks do not run the same collectives in the same order: that is
/// how jobs hang, or how recordings miss events. At most one per group.
std::vector<std::string> collective_order_faults(const RunSummary& run);

}  // namespace stallscope
