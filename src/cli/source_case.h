// Runs a rule's cases of source code, for `rules test`.
#pragma once

#include <span>

#include "rule/cases.h"

namespace stallscope {

/// Lints one case file under all `rules`. `# expect: ID` (`// expect:`) behind
/// code marks a line on which rule ID must fire.
CaseResult run_source_case(std::span<const Rule> rules, const Rule& rule,
                           const RuleCase& rule_case);

}  // namespace stallscope
