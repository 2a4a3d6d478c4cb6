// The settings of a project file that hold for some paths only.
#include <algorithm>

#include "rule/config.h"
#include "source/gitignore.h"

namespace stallscope {

bool ignored_at_path(const Config& config, const std::string& file, Finding& finding) {
  bool ignored = false;
  for (const PathSettings& settings : config.per_path) {
    if (!path_globs({settings.glob}).covers(file, false)) continue;
    ignored =
        ignored || std::ranges::find(settings.ignore, finding.rule_id) != settings.ignore.end();
    if (const auto it = settings.severities.find(finding.rule_id); it != settings.severities.end())
      finding.severity = it->second;
  }
  return ignored;
}

}  // namespace stallscope
