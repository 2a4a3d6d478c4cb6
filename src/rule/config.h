// stallscope.yml: what a project wants of the tool. A pyproject.toml may hold
// the same under [tool.stallscope].
//
// clang-format off
//   extends: ../stallscope.yml          # one file or a list; this file wins
//   rules: [my-rules]                   # folders, relative to this file
//   select: [item-in-step]              # only these; empty = all
//   ignore: [no-compile]
//   exclude: [third_party, "*_gen.py"]  # what is not linted; globs as in .gitignore, from this folder
//   fail-on: high
//   min-severity: medium                # what is less is not shown
//   baseline: stallscope-baseline.json
//   libclang: auto                      # types of C++: auto, off or the library's path
//   severities: {explicit-sync: medium}
//   path-map: {/workspace: .}
//   per-path:                           # the same globs
//     "tests/**": {ignore: [item-in-step], severities: {explicit-sync: info}}
//   check:                              # for `stallscope check`
//     step-time: "<= 120 ms"
//     tolerance: 3 %                    # against the baseline run
//     classes: {host-sync: "<= 5 %", exposed-communication: "<= 2 ms"}
//     findings: {item-in-step: 0, critical: 0}
//     no-new: [all]                     # rule ids, or all: none that the baseline run has not
//     repeats: 3                        # runs that must be given
//     baseline: stallscope-check.json   # written by `check --update-baseline`
// clang-format on
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rule/condition.h"
#include "rule/finding.h"

namespace stallscope {

/// A rule that settings name, and where they do.
struct NamedRule {
  std::string id;
  std::string file;
  uint64_t line = 0, column = 0;
};

/// What holds for files that match a glob, see path_globs(), beside the project's own settings.
struct PathSettings {
  std::string glob;
  std::vector<std::string> ignore;
  std::map<std::string, Severity> severities;
};

/// One assertion of `stallscope check`. The comparison is of nanoseconds per
/// step, or, with a %, of the share of the step.
struct ClassBudget {
  std::string step_class;  ///< a name of to_string(StepClass)
  Comparison comparison;
  bool is_share = false;
};

struct CheckSettings {
  std::optional<Comparison> step_time;  ///< nanoseconds of the median step
  std::optional<double> tolerance;      ///< share that the step may be slower than the baseline's
  std::vector<ClassBudget> classes;
  std::map<std::string, unsigned> findings;  ///< rule id or severity -> how many are allowed
  std::vector<std::string> no_new;  ///< rule ids, or "all", of which the baseline must know each
  unsigned repeats = 1;             ///< runs that must be given
  std::string baseline;             ///< path of the baseline run; empty = none
};

struct Config {
  std::string file;  ///< empty = no project file
  std::vector<std::string> rule_folders;
  std::vector<std::string> select, ignore, exclude;
  std::optional<Severity> fail_on, min_severity;
  std::string baseline;  ///< path; empty = none
  std::string libclang;  ///< "auto", "off" or a path; empty = not said
  std::map<std::string, Severity> severities;
  std::vector<std::pair<std::string, std::string>> path_map;
  std::vector<PathSettings> per_path;
  CheckSettings check;
  std::vector<NamedRule> named_rules;  ///< by select, ignore, severities, per-path and check
};

/// Reads one project file and what it extends. Strict, like rule files.
Result<Config> load_config(const std::string& path);

/// Adds the folders of a project's own rules that `folders` lacks.
void add_rule_folders(const Config& config, std::vector<std::string>& folders);

/// The nearest settings file in `folder` or above it, see settings_file_in(); empty when there is
/// none.
std::string find_config(const std::string& folder);

/// Whether per-path settings ignore a finding in `file`, relative to the settings' folder; sets
/// the severity that they state for it.
bool ignored_at_path(const Config& config, const std::string& file, Finding& finding);

}  // namespace stallscope
