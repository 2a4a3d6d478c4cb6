#include "report/tool_info.h"

namespace stallscope {

ToolInfo& tool_info() {
  static ToolInfo info{"stallscope", STALLSCOPE_VERSION, STALLSCOPE_COMMIT,
                       "https://github.com/stallscope/stallscope"};
  return info;
}

}  // namespace stallscope
