// What `lint --diff REV` compares with: the lines changed since a revision of
// git, and the files as they were then.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "base/temporary_folder.h"
#include "cli/diff_lines.h"

namespace stallscope {

/// A folder of a repository and the revision it is compared with, or one of its submodules with the
/// commit that it had then.
struct RevisedFolder {
  std::string folder;  ///< absolute
  std::string below;   ///< relative to the root, with a slash at its end; "" = the root itself
  std::string prefix;  ///< of the folder in its repository, the same way
  std::string tree;    ///< the object's name
};

/// The root and the submodules below it, at `revision`. Errors when the root is in no git
/// repository or that has no such revision.
Result<std::vector<RevisedFolder>> revised_folders(const std::string& root,
                                                   const std::string& revision);

/// What was changed since; files are relative to the root.
class Changes {
 public:
  static Result<Changes> since(const std::vector<RevisedFolder>& folders);
  bool contains(const Place& place) const;

 private:
  LinesOfFiles lines_;
  std::set<std::string> tracked_;  ///< files that git does not know are new as a whole
};

/// The source files of a revision in a folder of their own, gone with this object.
class OldTree {
 public:
  static Result<OldTree> checkout(const std::vector<RevisedFolder>& folders);

  /// What stands for the root of then.
  const std::string& root() const { return root_; }

 private:
  OldTree() = default;
  TemporaryFolder folder_{"diff"};
  std::string root_;
};

}  // namespace stallscope
