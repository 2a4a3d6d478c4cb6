// Where a project's settings are: stallscope.yml, or a table of ours in pyproject.toml.
#pragma once

#include <string>

namespace stallscope {

/// The file in `folder` that holds settings for us: stallscope.yml, else stallscope.yaml, else
/// pyproject.toml with a table of ours; empty when there is none. Recipes of CI services, as
/// .github/workflows/stallscope.yml, are no settings.
std::string settings_file_in(const std::string& folder);

}  // namespace stallscope
