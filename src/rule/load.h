// Reads rule files. Strict: whatever is not understood is an error with file,
// line, column, what was expected, and the nearest known word.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rule/rule.h"

namespace stallscope {

/// All rules of `folders` (each *.yaml and *.yml directly in them but the tables
/// frameworks.yaml and library-sync.yaml), by id. A
/// later folder may replace a rule of an earlier one; twice in one folder is an error.
Result<std::vector<Rule>> load_rules(std::span<const std::string> folders);

/// The folders to read when the user names none: the rules that come with the
/// tool (data_path("rules")), then `extra`.
Result<std::vector<Rule>> load_bundled_rules(std::span<const std::string> extra = {});

/// One rule file. `file` names it in errors and anchors its cases.
Result<Rule> parse_rule(std::string_view text, const std::string& file);

}  // namespace stallscope
