// What `lint --diff REV` compares with: the lines changed since a revision of
// git, and the files as they were then.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "base/temporary_folder.h"

namespace stallscope {

/// Per file, relative to the root: first and last line of each change.
using ChangedLines = std::map<std::string, std::vector<std::pair<uint32_t, uint32_t>>>;

Result<ChangedLines> changed_lines(const std::string& root, const std::string& revision);
bool is_changed(const ChangedLines& changed, const Place& place);

/// The source files of a revision in a folder of their own, gone with this object.
class OldTree {
 public:
  /// Errors when `root` is in no git repository or has no such revision.
  static Result<OldTree> checkout(const std::string& root, const std::string& revision);

  /// What stands for `root` of then.
  const std::string& root() const { return root_; }

 private:
  OldTree() = default;
  TemporaryFolder folder_{"diff"};
  std::string root_;
};

}  // namespace stallscope
