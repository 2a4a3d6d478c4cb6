// Starts: a launcher that starts all ranks again after a failure leaves several processes of one
// rank, of which only those of one start ran together.
#pragma once

#include <string>
#include <vector>

#include "analyze/summary.h"

namespace stallscope {

/// Keeps the ranks of the last start in which each of them took a step. Returns a sentence for the
/// report; empty when the ranks were started once.
std::string keep_last_start(std::vector<RankSummary>& ranks);

}  // namespace stallscope
