// Runs named on a command line, as reports or as traces to be analysed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/pipeline.h"
#include "report/run_measures.h"

namespace stallscope {

/// Each input is one run: a report.json, a run folder, a trace, or a folder
/// with one trace per rank.
Result<std::vector<RunMeasures>> load_runs(const std::vector<std::string>& inputs,
                                           const PipelineOptions& options);

}  // namespace stallscope
