// Which build of the tool wrote a report.
#pragma once

#include <string>

namespace stallscope {

struct ToolInfo {
  std::string name;
  std::string version;
  std::string commit;  ///< empty when built outside a git checkout
  std::string information_uri;
};

/// The running build. Tests may replace its fields to compare with golden files.
ToolInfo& tool_info();

}  // namespace stallscope
