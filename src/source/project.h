// Project: which files lint reads, and from which root.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "source/index.h"

namespace stallscope {

struct ProjectOptions {
  std::vector<std::string> exclude;  ///< globs of paths relative to the root
};

struct Project {
  std::string root;                 ///< absolute
  std::vector<SourceInput> inputs;  ///< every source file of the project, by path
  std::vector<std::string> chosen;  ///< of those, what the named paths hold, by path
};

/// The folder that decides imports and excludes for `path`: the nearest one
/// with a project file or .git, else the path's own folder.
std::string project_root(const std::string& path);

/// The project of `paths`. Every file of the root is read, so that findings are
/// the same whichever paths are named; ignored files and virtual environments are not.
Result<Project> find_project(const std::vector<std::string>& paths,
                             const ProjectOptions& options = {});

}  // namespace stallscope
