// A rule set of one rule, for tests of what the index says about a place.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "source/index.h"

namespace stallscope {

/// Calls of .item() on what may be a tensor, in these contexts (any if there are none).
inline RuleSet item_rule(std::vector<std::string> contexts = {}) {
  auto condition = std::make_shared<SourceCondition>();
  SourceClause clause;
  clause.calls = {".item"};
  clause.on = "tensor";
  clause.certainty = "unknown";
  clause.contexts = std::move(contexts);
  condition->any.push_back(clause);
  const std::vector<SourceRule> rules = {{"item", {"python", "cpp", "cuda"}, condition, true}};
  auto compiled = RuleSet::compile(rules);
  REQUIRE(compiled.ok());
  return std::move(compiled.value());
}

}  // namespace stallscope
