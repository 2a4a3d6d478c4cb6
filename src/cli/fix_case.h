// Fix cases: beside a rule with an edit stand fixes/ID.py and what
// `lint --fix` must make of it, fixes/ID.fixed.py.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "rule/rule.h"

namespace stallscope {

/// Makes the rule's edits in its fix case. Errors say what came out otherwise.
Status run_fix_case(std::span<const Rule> rules, const Rule& rule);

}  // namespace stallscope
