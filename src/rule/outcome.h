// What to say of each rule: fired, passed, did not apply, or could not run.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "rule/claims.h"

namespace stallscope {

/// What a run can show at all.
struct RunReach {
  bool steps = false, device = false, collectives = false, samples = false, several_ranks = false;
  std::string abstention;

  explicit RunReach(const RunSummary& run);
};

/// Why the run cannot tell what a line costs that `rule` is about; empty where it can.
std::string why_unmeasured(const Rule& rule, const RunReach& reach);

/// One RuleMeta for each rule, in the rules' order. `fired` holds the ids of
/// rules with findings; `run` and `claims` are of the same run, `run` nullptr without one.
std::vector<RuleMeta> rule_outcomes(std::span<const Rule> rules, const std::set<std::string>& fired,
                                    const RunSummary* run, const Claims& claims,
                                    const EvaluateOptions& options);

/// True when options select the rule.
bool is_selected(const Rule& rule, const EvaluateOptions& options);

}  // namespace stallscope
