// Which files on this machine are the program that a run recorded.
#pragma once

#include <set>
#include <span>
#include <string>

#include "analyze/summary.h"
#include "rule/file_join.h"
#include "trace/run_manifest.h"

namespace stallscope {

/// Absolute paths of the program's own files; those of libraries are left out, because nobody
/// mends the lines of an installed package, and theirs would bury the user's own.
struct ProgramFiles {
  std::set<std::string> observed;  ///< that stacks name
  std::set<std::string> loaded;    ///< that line evidence names
  std::set<std::string> own;  ///< what the command starts, and the folder or package it lies in

  bool empty() const { return observed.empty() && loaded.empty() && own.empty(); }
};

/// Relative paths are those of the run's working directory, for other tools' traces of this
/// process's.
ProgramFiles program_files(const RunSummary& run, std::span<const RunManifest> manifests,
                           const PathMap& path_map);

}  // namespace stallscope
