// RunMeasures: what comparing and gating need to know of one run, taken from
// its report.json, whether that was read from a file or has just been made.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "report/report.h"

namespace stallscope {

/// Time of one kernel per step. Kernels are told apart by name and operator.
struct KernelMeasure {
  std::string name, op;
  double ns_per_step = 0, calls_per_step = 0;
};

struct FindingMeasure {
  std::string fingerprint, rule_id, title, severity;
  std::string place;              ///< "train.py:12", the subject, or ""
  std::optional<double> gain_ns;  ///< per step; unknown when not priced
  std::optional<double> one_time_ns;
};

/// One run, as its slowest rank shows it.
struct RunMeasures {
  std::string label;
  std::vector<double> steps;            ///< used steps in ns; empty when the report abstains
  std::optional<ClassTimes> breakdown;  ///< mean step by class
  std::vector<KernelMeasure> kernels;
  std::vector<FindingMeasure> findings;  ///< measured ones
  std::vector<std::string> abstentions;  ///< why there is no verdict
};

/// Reads a report.json. `label` names the run in texts and errors. Errors: not
/// JSON, not a report, of a schema version this tool does not know.
Result<RunMeasures> measures_of_json(std::string_view json, const std::string& label);

/// The same of a report that has just been made.
Result<RunMeasures> measures_of(const Report& report, const std::string& label);

}  // namespace stallscope
