// From the parts of an analysis to one Report: the only place where a report's
// headline figures are computed. Formats below only write them down.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/report.h"
#include "rule/rank_findings.h"

namespace stallscope {

/// What a Report is made of. Findings may come in any order; they are ranked here.
struct ReportInput {
  RunInfo run;
  std::vector<std::string> inputs;  ///< traces or folders that were read
  RunSummary summary;
  std::vector<Finding> findings;
  std::vector<RuleMeta> rules;
  OverheadInfo overhead;
  std::optional<double> replay_error;  ///< relative, of the unchanged trace
  std::map<std::string, std::string> environment;
  std::map<std::string, std::vector<std::string>> sources;
  std::vector<std::string> warnings;
  std::vector<Error> errors;
};

/// Ranks the findings and computes the headline: the slowest rank's step time,
/// how many of its steps carry it, and what is recoverable in all. With no rank
/// that can carry a verdict the step time and the recoverable range stay unknown.
Report build_report(ReportInput input);

/// The slowest rank or, where none can carry a verdict for no other reason than that one step alone
/// could be used, the first of those; nullptr when there is none.
const RankSummary* described_rank(const RunSummary& summary);

/// Why no verdict can be given, for the run as a whole; empty when one can.
std::vector<std::string> abstentions(const RunSummary& summary);

/// Steps of a rank by what became of them.
struct StepCounts {
  uint32_t used = 0, first = 0, last = 0, warm_up = 0, launched_before_capture = 0, hole = 0;
  uint32_t no_work = 0, overlapping = 0;
  uint32_t discarded() const {
    return first + last + warm_up + launched_before_capture + hole + no_work + overlapping;
  }
};
StepCounts count_steps(const RankSummary& rank);

}  // namespace stallscope
