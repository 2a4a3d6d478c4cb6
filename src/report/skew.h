// Who waits for whom: what the collectives of a run say about late ranks.
#pragma once

#include <string>
#include <vector>

#include "analyze/summary.h"

namespace stallscope {

/// All collectives of one name in one group.
struct CollectiveSkew {
  std::string name, group;
  uint64_t count = 0;      ///< with at least two ranks seen
  int32_t late_rank = -1;  ///< the rank that arrived last most often (ties: the lowest)
  uint64_t late_count = 0;
  Ns wait = 0;  ///< time all other ranks spent waiting for the last one
};

/// By waiting time, longest first. A rank's wait in a collective is its
/// duration minus the shortest among its ranks, because all end together.
std::vector<CollectiveSkew> collective_skew(const RunSummary& summary);

/// The rank with the longest start-up; nullptr when no rank has one.
const RankSummary* longest_startup(const RunSummary& summary);
Ns startup_total(const RankSummary& rank);

}  // namespace stallscope
