// Which lines ran in the recorded Python programs: each process leaves a small
// file beside its segment, which becomes a part of run.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trace/run_manifest.h"

namespace stallscope {

/// What all processes of a recording said of their lines.
struct TakenLines {
  std::map<std::string, RecordedLines> files;
  uint32_t silent_processes = 0;  ///< RunManifest::silent_processes
};

/// Reads and removes the files of a recording folder; several processes' lines
/// of one file are joined. Lines that are not understood are left out.
TakenLines take_line_evidence(const std::string& recording_folder);

}  // namespace stallscope
