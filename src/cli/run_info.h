// What run folders say about a run, for the head of its report.
#pragma once

#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "report/build.h"

namespace stallscope {

/// Fills run and overhead of `input` from the run.json of the paths that are
/// recorded runs; imported traces leave them unknown. Folders of different run
/// ids are an error: runs never mix.
Status describe_run(const std::vector<std::string>& paths, const std::vector<RankSummary>& ranks,
                    ReportInput& input);

}  // namespace stallscope
