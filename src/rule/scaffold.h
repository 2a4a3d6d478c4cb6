// A new rule, to be filled in.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stallscope {

/// Writes FOLDER/ID.yaml and its cases under FOLDER/cases/ID, and returns the
/// files written. The rule works as it is: it loads and its cases hold. An
/// existing file is an error.
Result<std::vector<std::string>> scaffold_rule(const std::string& id, const std::string& folder);

}  // namespace stallscope
