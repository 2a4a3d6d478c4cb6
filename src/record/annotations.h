// What --annotate marked in the recorded programs: each Python process leaves a
// small file beside its segment, which becomes a part of run.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collect/settings.h"

namespace stallscope {

/// What a process was told when it joined the others.
struct ProcessRank {
  int64_t pid = 0;
  int32_t rank = -1;
  int32_t world_size = 0;
};

struct Annotations {
  uint64_t processes = 0;           ///< that were marked
  uint64_t announcements = 0;       ///< calls of marks in them
  uint64_t own_ns = 0;              ///< that the marks themselves took in them
  std::vector<std::string> marked;  ///< what was, each once
  /// Traces that a profiler of the program's own wrote, by the process that did; absolute paths.
  std::vector<std::pair<int64_t, std::string>> profiles;
  std::vector<ProcessRank> ranks;     ///< 0 <= rank < world_size
  std::vector<std::string> left_out;  ///< what a library lacks, or could not be marked and why
  /// What libraries had been set to when the processes ended, by the entries of run.json's
  /// environment; "mixed" where not all were set alike, as torchrun's own process is not.
  std::map<std::string, std::string> settings;
};

/// Reads and removes the files of a recording folder. Lines that are not understood are left out.
Annotations take_annotations(const std::string& recording_folder);

}  // namespace stallscope
