// Repeated traces: one trace that several of the inputs hold, as a copy or packed beside itself.
#pragma once

#include <string>
#include <vector>

#include "analyze/summary.h"

namespace stallscope {

/// Keeps the first of equal ranks, which would count twice in all sums over ranks. Returns a
/// sentence for the report; empty when all differ.
std::string drop_repeated_traces(std::vector<RankSummary>& ranks);

}  // namespace stallscope
