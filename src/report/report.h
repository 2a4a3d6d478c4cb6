// Report: everything one report says. Each output format is one file that
// turns a Report into text; none computes anything.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "report/reference.h"
#include "rule/finding.h"

namespace stallscope {

struct RunInfo {
  std::string id;
  std::string started_at;            ///< ISO 8601, UTC
  std::vector<std::string> command;  ///< empty for imported traces
  std::optional<int> exit_code;      ///< as the shell shows it: 128 + signal
  bool interrupted = false;
};

/// The recorder's cost, as measured.
struct OverheadInfo {
  std::optional<double> own_fraction;       ///< self-timed share of wall time
  std::optional<double> paired_difference;  ///< --measure-overhead: relative
  std::optional<double> paired_low, paired_high;
};

struct StepTime {
  Ns median = 0, low = 0, high = 0;  ///< low to high: 95 % of the median
  Ns mean = 0;                       ///< what gains are parts of
};

struct Report {
  RunInfo run;
  std::map<std::string, std::string> environment;
  std::vector<std::string> inputs;
  RunSummary summary;
  OverheadInfo overhead;
  std::optional<double> replay_error;  ///< of the unchanged trace; unknown without replay
  std::optional<StepTime> step_time;   ///< of the slowest rank; unknown when abstaining
  uint32_t steps_used = 0, steps_discarded = 0;
  std::optional<Gain::Range> recoverable;  ///< per step, capped as a whole
  std::vector<Finding> findings;           ///< by predicted gain, largest first
  std::vector<RuleMeta> rules;
  std::vector<std::string> warnings;
  std::vector<Error> errors;
  std::optional<ReferenceComparison> reference;
  std::map<std::string, std::vector<std::string>> sources;  ///< file -> lines cited, for snippets
};

/// One output format. Registers itself; nothing else names it.
struct Format {
  std::string_view name;       ///< "html", "json", "text", "markdown", ...
  std::string_view file_name;  ///< "report.html"; empty when it goes to stdout only
  std::string_view description;
  Result<std::string> (*render)(const Report& report) = nullptr;
};
struct RegisterFormat {
  explicit RegisterFormat(const Format& format);
};
const Format* find_format(std::string_view name);
std::vector<Format> formats();

}  // namespace stallscope
