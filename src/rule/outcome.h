// What to say of each rule: fired, passed, did not apply, or could not run.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "rule/claims.h"

namespace stallscope {

/// One RuleMeta for each rule, in the rules' order. `fired` holds the ids of
/// rules with findings; `run` and `claims` are of the same run, `run` nullptr without one.
std::vector<RuleMeta> rule_outcomes(std::span<const Rule> rules, const std::set<std::string>& fired,
                                    const RunSummary* run, const Claims& claims,
                                    const EvaluateOptions& options);

/// True when options select the rule.
bool is_selected(const Rule& rule, const EvaluateOptions& options);

}  // namespace stallscope
