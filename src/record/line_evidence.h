// Which lines ran in the recorded Python programs: each process leaves a small
// file beside its segment, which becomes a part of run.json.
#pragma once

#include <map>
#include <string>

#include "trace/run_manifest.h"

namespace stallscope {

/// Reads and removes the files of a recording folder; several processes' lines
/// of one file are joined. Lines that are not understood are left out.
std::map<std::string, RecordedLines> take_line_evidence(const std::string& recording_folder);

}  // namespace stallscope
