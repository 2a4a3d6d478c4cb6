// Traces that a profiler of the program's own wrote during the run: copied into
// the run's folder, so that they fill the hole that the profiler left.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "record/annotations.h"

namespace stallscope {

/// Copies what the program said it exported, and the *.pt.trace.json files that appeared in
/// `working_directory` since `since` (CLOCK_REALTIME), into `recording_folder`. Returns sentences
/// for the report about what was copied and what could not be.
std::vector<std::string> take_own_profiles(const Annotations& annotations,
                                           const std::string& working_directory, Ns since,
                                           const std::string& recording_folder);

}  // namespace stallscope
