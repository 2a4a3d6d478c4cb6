// The one data flow, from inputs to a Report. Shared by every command that
// makes one.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "base/terminal.h"
#include "cli/source_join.h"
#include "import/importer.h"
#include "report/report.h"

namespace stallscope {

struct PipelineOptions {
  AnalyzeOptions analyze;
  uint64_t max_inflated_bytes = ImportOptions{}.max_inflated_bytes;
  std::vector<std::string> rule_folders;  ///< beside the tool's own rules
  SourceChoice source;
  std::vector<int> ranks;  ///< only these; empty = all
};

/// Whether the rules of settings and options can be read, and the settings name no others: a
/// recording should not begin when its report is known to fail.
Status expect_usable(const Config& config, const PipelineOptions& options);

/// Imports, analyses, merges and evaluates: one rank at a time, so that memory
/// is that of the largest rank.
Result<Report> make_report(std::span<const std::string> inputs, const PipelineOptions& options,
                           Progress& progress);

/// Writes report.html and report.json into `folder`, which is created.
/// A file there that is no report of this tool is never overwritten.
Status write_reports(const Report& report, const std::string& folder);

}  // namespace stallscope
