// From node-local storage into the run folder.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stallscope {

/// Makes an empty folder for segments on storage of this node: in $TMPDIR or
/// /tmp, or in /dev/shm when that lies on a network file system or is full.
Result<std::string> make_recording_folder(const std::string& run_id);

struct Gathered {
  size_t files = 0, processes = 0;
  Bytes bytes = 0;                    ///< as they lie in the run folder
  std::vector<std::string> warnings;  ///< files that could not be brought over
};

/// Moves every file of `recording_folder` into `trace_folder`, segments without
/// the room that was made ahead and never used, and removes the folder. With
/// `by_rank` segments go to trace_folder/rank-N of the rank that their process
/// had, or to trace_folder/local. What cannot be moved stays where it is, with
/// a warning that says so.
Gathered gather(const std::string& recording_folder, const std::string& trace_folder, bool by_rank);

}  // namespace stallscope
