// What run folders say about a run, for the head of its report.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "report/build.h"
#include "trace/run_manifest.h"

namespace stallscope {

/// run.json of a path that is a recorded run or one of its ranks; none for other tools' traces.
/// A damaged one is an error.
Result<std::optional<RunManifest>> manifest_of_input(const std::string& path);

/// Fills run and overhead of `input` from the manifests of its inputs. Different run ids are an
/// error: runs never mix.
Status describe_run(std::span<const RunManifest> manifests, const std::vector<RankSummary>& ranks,
                    ReportInput& input);

}  // namespace stallscope
