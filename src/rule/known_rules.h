// Ids of rules as users write them: one that no rule has would switch off without a word.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "rule/config.h"
#include "rule/rule.h"

namespace stallscope {

/// Whether one of `rules` has this id.
bool is_known_rule(const std::string& id, std::span<const Rule> rules);

/// "there is no rule 'item-in-stp', did you mean 'item-in-step'?"
std::string unknown_rule(const std::string& id, std::span<const Rule> rules);

/// An error at the first place where settings name a rule that is none of `rules`.
Status expect_known_rules(const Config& config, std::span<const Rule> rules);

}  // namespace stallscope
