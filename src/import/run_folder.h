// The folder of a recorded run, seen by a reader. See record/run_folder.h for
// how it comes about.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trace/run_manifest.h"

namespace stallscope {

/// The folder that holds the recording of the run in `path`: itself, its
/// "trace", or its newest launch; empty when `path` holds no run.
std::string trace_folder_of(const std::string& path);

/// The folders that each import as one rank of the run in `trace_folder`, ranks
/// in order. A run that recorded nothing gives the folder itself.
std::vector<std::string> rank_folders(const std::string& trace_folder);

/// run.json of a trace folder, a launch (its first rank's) or a rank folder.
Result<RunManifest> manifest_of(const std::string& folder);

/// Files of `folder` whose name ends in `suffix`, sorted.
std::vector<std::string> files_with_suffix(const std::string& folder, std::string_view suffix);

}  // namespace stallscope
