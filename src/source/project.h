// Project: which files lint reads, and from which root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/index.h"
#include "source/project_root.h"

namespace stallscope {

struct ProjectOptions {
  /// Whether a file or folder is left out, by its path relative to the root. None = all are read.
  std::function<bool(const std::string& path, bool is_folder)> excludes;
  std::string root;              ///< absolute; empty = project_root() of the paths
  size_t most_files = SIZE_MAX;  ///< a project with more is an error
  bool below_root = true;        ///< false: only files in the root itself, and those named
};

/// The code of the error about `most_files`.
inline constexpr char kTooManyFiles[] = "too-many-files";

struct Project {
  std::string root;                 ///< absolute
  std::vector<SourceInput> inputs;  ///< every source file of the project, by path
  std::vector<std::string> chosen;  ///< of those, what the named paths hold, by path
  std::vector<std::string> named;   ///< of those, the files that were themselves named
  std::vector<std::string> notes;   ///< what was named and is not read, and why
};

/// Whether the options leave out `path`, relative to the root, or a folder above it.
bool is_excluded(const ProjectOptions& options, const std::string& path, bool is_folder);

/// Whether a folder is a virtual environment of Python or Conda.
bool is_virtual_environment(const std::filesystem::path& folder);

/// Whether a folder holds more source files than `most`, without those that git ignores.
bool holds_more_files(const std::string& folder, size_t most);

/// The project of `paths`. Every file of the root is read, so that findings are
/// the same whichever paths are named; ignored files and virtual environments are not, but for
/// ignored ones that are named. What the options exclude is not read though it is named.
Result<Project> find_project(const std::vector<std::string>& paths,
                             const ProjectOptions& options = {});

}  // namespace stallscope
