// Entry points of frameworks: functions that are called every step from code
// outside the project. Data: rules/frameworks.yaml.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "source/contexts.h"

namespace stallscope {

/// Reads a frameworks.yaml. Errors name file and line.
Result<std::vector<EntryPoint>> load_entry_points(const std::string& path);

}  // namespace stallscope
