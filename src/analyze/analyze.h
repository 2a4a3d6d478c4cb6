// The analysis of one trace, and the merge of many.
#pragma once

#include <vector>

#include "analyze/summary.h"
#include "trace/trace.h"

namespace stallscope {

/// One summary per (process, device) that ran work; one per process that ran none.
std::vector<RankSummary> analyze_trace(const Trace& trace, const AnalyzeOptions& options = {});

/// Associative and commutative: merging in any grouping gives the same result.
RunSummary merge(RunSummary a, RunSummary b);
RunSummary merge_ranks(std::vector<RankSummary> ranks);

}  // namespace stallscope
