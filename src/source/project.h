// Project: which files lint reads, and from which root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/index.h"

namespace stallscope {

struct ProjectOptions {
  std::vector<std::string> exclude;  ///< globs of paths relative to the root
  size_t most_files = SIZE_MAX;      ///< a project with more is an error
  bool below_root = true;            ///< false: only files in the root itself, and those named
};

/// The code of the error about `most_files`.
inline constexpr char kTooManyFiles[] = "too-many-files";

struct Project {
  std::string root;                 ///< absolute
  std::vector<SourceInput> inputs;  ///< every source file of the project, by path
  std::vector<std::string> chosen;  ///< of those, what the named paths hold, by path
};

/// The folder that decides imports and excludes for `path`: the nearest one
/// with a project file or .git, else the path's own folder.
std::string project_root(const std::string& path);

/// True for folders that hold everything and are no project: the root, the user's home, those for
/// temporary files. A script there, unless a project file says otherwise, is read with the files
/// beside it, not with all below.
bool is_wide_folder(const std::string& folder);

/// The project of `paths`. Every file of the root is read, so that findings are
/// the same whichever paths are named; ignored files and virtual environments are not.
Result<Project> find_project(const std::vector<std::string>& paths,
                             const ProjectOptions& options = {});

}  // namespace stallscope
