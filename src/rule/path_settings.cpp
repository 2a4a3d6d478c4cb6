// The settings of a project file that hold for some paths only.
#include <algorithm>

#include "rule/config.h"
#include "source/gitignore.h"

namespace stallscope {
namespace {

// A glob without a slash names files wherever they are.
bool applies(const std::string& glob, const std::string& path) {
  if (glob_matches(glob, path)) return true;
  return glob.find('/') == std::string::npos &&
         glob_matches(glob, std::string_view(path).substr(path.rfind('/') + 1));
}

}  // namespace

void apply_path_settings(const Config& config, std::vector<Finding>& findings) {
  if (config.per_path.empty()) return;
  std::erase_if(findings, [&](Finding& finding) {
    if (finding.locations.empty()) return false;
    bool ignored = false;
    for (const PathSettings& settings : config.per_path) {
      if (!applies(settings.glob, finding.locations.front().file)) continue;
      ignored =
          ignored || std::ranges::find(settings.ignore, finding.rule_id) != settings.ignore.end();
      if (const auto it = settings.severities.find(finding.rule_id);
          it != settings.severities.end())
        finding.severity = it->second;
    }
    return ignored;
  });
}

}  // namespace stallscope
