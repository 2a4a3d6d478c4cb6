// What one node says about one rank, for the report that another node makes of all of them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "cli/snippets.h"
#include "trace/run_manifest.h"

namespace stallscope {

/// All that a report needs of one input: a trace that was analysed, or a summary of one.
struct RankInput {
  std::vector<RankSummary> ranks;
  std::vector<std::string> warnings;
  std::map<std::string, std::string> environment;
  std::optional<RunManifest> manifest;  ///< of a recorded run
  SourceStore sources;                  ///< the lines its observations cite
};

/// Writes one file per rank into `folder`, which is created: rank-7.summary, or a name made of the
/// process and device where no rank is known. `names` holds those that this run wrote already, and
/// gets the new ones. A file there that is no summary is never overwritten.
Status write_summaries(const RankInput& input, const std::string& folder,
                       std::set<std::string>& names);

/// Reads what write_summaries wrote; a damaged or foreign file is an error that names it.
Result<RankInput> read_summary_file(const std::string& path);

}  // namespace stallscope
