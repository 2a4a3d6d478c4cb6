// Which ranks come late to their collectives together, and which groups'
// messages take long: what names a link rather than a rank.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyze/rank_groups.h"
#include "analyze/summary.h"

namespace stallscope {

/// Operation, and what the run calls the group.
using WaitKey = std::pair<std::string, std::string>;

/// A minority of a group's ranks that the others wait for.
struct LateRanks {
  std::vector<int32_t> ranks;  ///< in order
  std::string text;            ///< "ranks 3 and 4", with their host when it has no other rank
};

/// Of every operation of every group, the ranks that arrive late in most of the time waited. Groups
/// in which no minority does are left out.
std::map<WaitKey, LateRanks> late_ranks(const RunSummary& run, const RankGroups& groups);

/// "slow-link": a group whose collectives take longer, from the last arrival on, than those of the
/// same number and size of its sister groups.
void observe_slow_links(const RunSummary& run, const RankGroups& groups,
                        std::vector<Observation>& observations);

}  // namespace stallscope
