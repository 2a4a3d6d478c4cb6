// [tool.stallscope] of a pyproject.toml: the same settings as stallscope.yml.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stallscope {

/// Whether the text may hold settings of ours, by a look at it.
bool mentions_settings(std::string_view pyproject);

/// The table as YAML, each value on the line it has in the file, so that what
/// is wrong with it is reported at its place. Empty when there is no such
/// table; errors say where the file is no TOML.
Result<std::string> pyproject_settings(std::string_view text, const std::string& file);

}  // namespace stallscope
