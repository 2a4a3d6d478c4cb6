// Reads the `trace:` block of a rule file. Throws YamlError (see yaml_reader.h).
#pragma once

#include <string>
#include <vector>

#include "rule/rule.h"

namespace stallscope {

class YamlNode;

/// One condition, or a list of which any may hold. Kinds and fields that
/// observation_kinds() does not know are errors.
std::vector<TraceCondition> parse_trace_conditions(const YamlNode& node, const std::string& file);

/// A comparison's text, or a list of values of which any may be equal.
Comparison parse_comparison_node(const YamlNode& node, const std::string& file);

}  // namespace stallscope
