// Reads the `source:` half of a rule file.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "source/facts/condition.h"

namespace stallscope {

class YamlNode;

/// The condition of `node`, the value of a rule's `source:` key: one clause, or
/// a list of which any may match. Errors name `file`, line and column; an unknown
/// key, guard, context, kind or matcher is an error.
Result<std::shared_ptr<const SourceCondition>> parse_source_condition(const YamlNode& node,
                                                                      const std::string& file);

}  // namespace stallscope
