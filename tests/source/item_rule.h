// Rule sets of one rule, for tests of what the index says about a place.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "source/index.h"

namespace stallscope {

/// What one clause names, in files of these languages.
inline RuleSet clause_rule(SourceClause clause,
                           std::vector<std::string> languages = {"python", "cpp", "cuda"}) {
  auto condition = std::make_shared<SourceCondition>();
  condition->any.push_back(std::move(clause));
  auto compiled = RuleSet::compile({{{"read", std::move(languages), condition, true}}});
  REQUIRE(compiled.ok());
  return std::move(compiled.value());
}

/// Calls of .item() on what may be a tensor, in these contexts (any if there are none).
inline RuleSet item_rule(std::vector<std::string> contexts = {}) {
  SourceClause clause;
  clause.calls = {".item"};
  clause.on = "tensor";
  clause.certainty = "unknown";
  clause.contexts = std::move(contexts);
  return clause_rule(std::move(clause));
}

/// Calls of .item() in one context, but for what `unless` guards.
inline RuleSet items_unless(const std::string& context, const std::string& unless) {
  SourceClause clause;
  clause.calls = {".item"};
  clause.contexts = {context};
  clause.unless = {unless};
  return clause_rule(std::move(clause));
}

/// Calls of `name` in a step that are handed a value of the kind `on`, but for `unless`.
inline RuleSet reads_of(const std::string& name, const std::string& on, const std::string& unless) {
  SourceClause clause;
  clause.calls = {name};
  clause.on = on;
  clause.certainty = "likely";
  clause.contexts = {"step"};
  clause.unless = {unless};
  return clause_rule(std::move(clause), {"python"});
}

}  // namespace stallscope
