// The folder that a project is read from.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stallscope {

/// The folder that decides imports for `path`: the nearest one with settings of ours, up to that of
/// the repository it is in; else the repository's; else the nearest one with a project file; else
/// the path's own. A repository of very many files is none for a project file within it, nor one
/// that leaves its folder out (.gitignore): there the nearest folder with one is read, which costs
/// what the project does.
std::string project_root(const std::string& path);

/// The common folder of the roots of `paths`; an error names the path that is not there.
Result<std::string> project_root(const std::vector<std::string>& paths);

/// Whether the folder has what marks a project: a repository, a project file.
bool has_root_mark(const std::string& folder);

/// True for folders that hold everything and are no project: the root, the user's home, those for
/// temporary files. A script there, unless a project file says otherwise, is read with the files
/// beside it, not with all below.
bool is_wide_folder(const std::string& folder);

}  // namespace stallscope
