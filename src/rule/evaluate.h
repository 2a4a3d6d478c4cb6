// The rule engine: rules x (run, source facts) -> findings.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/summary.h"
#include "rule/file_join.h"
#include "rule/finding.h"
#include "rule/rule.h"
#include "source/facts/source_fact.h"

namespace stallscope {

/// Which lines of a file ran, where the recording can tell (sys.monitoring, coverage). All empty:
/// the run loaded the file, and what ran of it is unknown.
struct LineEvidence {
  std::set<uint32_t> watched;   ///< lines that could have been seen
  std::set<uint32_t> hit;       ///< lines that were
  std::set<uint32_t> compiled;  ///< lines that may have run as compiled code, unseen
};

struct EvaluateOptions {
  PathMap path_map;
  /// Content hash of a file as it was when the run was recorded, by the run's path.
  std::map<std::string, std::string> run_file_hashes;
  /// Every file that static analysis read; those of the facts where nothing is said.
  AnalysedFiles files;
  /// Lines known to have run, by the run's path.
  std::map<std::string, LineEvidence> line_evidence;
  /// Python processes of the run that left no line evidence where others did.
  uint32_t silent_processes = 0;
  /// Python files that no process loaded are no part of the run: nothing is found in them. Where a
  /// process left no word of what it loaded, nothing is left out.
  bool loaded_only = false;
  /// The options by which a part of the run was recorded only; empty = all of it.
  std::string recorded_part;
  /// A line of the sources kept with the run, for fingerprints; "" = not kept. May be empty.
  std::function<std::string(const std::string& file, uint32_t line)> line_text;
  std::map<std::string, Severity> severities;  ///< a project's own, by rule id
  std::vector<std::string> select;             ///< only these ids; empty = all
  std::vector<std::string> ignore;             ///< not these ids
  bool source_was_analysed = true;  ///< false: source rules "could not run", not "passed"
};

struct RuleResults {
  std::vector<Finding> findings;  ///< in the order of rank_findings()
  std::vector<RuleMeta> rules;    ///< one for each rule, by id
  /// Source matches left out by EvaluateOptions::loaded_only, by file.
  std::map<std::string, size_t> not_loaded;
};

/// How the files of a run meet those that `facts` lie in.
FileJoin file_join(std::span<const SourceFact> facts, const EvaluateOptions& options);

/// Deterministic: the same whatever the order of observations, facts or rules.
RuleResults evaluate(std::span<const Rule> rules, const RunSummary* run,
                     std::span<const SourceFact> facts, const EvaluateOptions& options = {});

}  // namespace stallscope
