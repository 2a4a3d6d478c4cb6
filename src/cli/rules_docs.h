// The documentation of rules, made from their files: a page for each and an index.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "rule/rule.h"

namespace stallscope {

/// A rule as Markdown: what it finds, why it matters, what to write instead.
std::string rule_markdown(const Rule& rule);

/// Writes ID.md for each rule and index.md into `folder`, which is made if need be.
Status write_rule_docs(std::span<const Rule> rules, const std::string& folder);

}  // namespace stallscope
