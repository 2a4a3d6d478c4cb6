// What `lint` finds, whoever asks: the command, its fixes, the language server.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/lint_settings.h"
#include "cli/source_analysis.h"
#include "rule/evaluate.h"

namespace stallscope {

struct LintSettings {
  std::vector<std::string> paths = {"."};
  std::vector<std::string> rule_folders, select, ignore, exclude;
  std::string baseline, diff, fail_on, min_severity;
  bool cache = true, update_baseline = false;
  std::string cache_root;  ///< see SourceAnalysisOptions
  uint64_t max_file_mb = kLargestSource >> 20;
  std::string libclang;                    ///< see SourceAnalysisOptions
  unsigned libclang_budget = 60;           ///< seconds for the types of C++; 0 = only cached ones
  bool progress = false;                   ///< say on a terminal how far these are
  AnalysisTimes* times = nullptr;          ///< see FileOptions
  std::map<std::string, GivenText> given;  ///< see SourceAnalysisOptions
};

struct Linted {
  std::shared_ptr<ProjectSettings> settings;
  std::vector<Rule> rules;
  SourceAnalysis source;
  RuleResults results;                ///< places are relative to the project's root
  std::vector<std::string> messages;  ///< about suppressions that silence nothing
  Severity fail_on = Severity::medium, min_severity = Severity::info;
  size_t left_out = 0;  ///< findings below min_severity
};

/// Reads the project file, analyses and narrows the findings by comments,
/// settings, baseline and --diff.
Result<Linted> run_lint(LintSettings settings);

/// A file of the analysis as lines are counted in it: a notebook's code, else its text.
Result<std::string> source_text(const SourceAnalysis& source, const std::string& file);

/// The rule of a finding; null when it is none of `rules`.
const Rule* rule_of(const Linted& linted, const Finding& finding);

/// The match a finding came from; null when there is none.
const SourceFact* match_of(const Linted& linted, const Finding& finding);

}  // namespace stallscope
