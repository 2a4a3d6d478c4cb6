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
#include "rule/finding.h"
#include "rule/rule.h"
#include "source/facts/source_fact.h"

namespace stallscope {

/// Which lines of a file ran, where the recording can tell (sys.monitoring, coverage). Both empty:
/// the run loaded the file, and what ran of it is unknown.
struct LineEvidence {
  std::set<uint32_t> watched;  ///< lines that could have been seen
  std::set<uint32_t> hit;      ///< lines that were
};

struct EvaluateOptions {
  /// --path-map FROM=TO: a prefix of the run's paths and what stands for it here.
  std::vector<std::pair<std::string, std::string>> path_map;
  /// Content hash of a file as it was when the run was recorded, by the run's path.
  std::map<std::string, std::string> run_file_hashes;
  /// Lines known to have run, by the run's path.
  std::map<std::string, LineEvidence> line_evidence;
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
};

/// Deterministic: the same whatever the order of observations, facts or rules.
RuleResults evaluate(std::span<const Rule> rules, const RunSummary* run,
                     std::span<const SourceFact> facts, const EvaluateOptions& options = {});

}  // namespace stallscope
