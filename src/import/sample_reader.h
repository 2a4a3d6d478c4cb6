// Reads a process's stack samples (see trace/sample_file.h) into a Trace.
#pragma once

#include <string>

#include "base/result.h"
#include "trace/trace.h"

namespace stallscope {

/// Adds the samples of the file at `path`, on the tracks of the process with its
/// pid, which is added when no segment has. Damaged lines are left out and
/// counted in `into.health.repairs`; only a file of another kind is an error.
Status read_samples(const std::string& path, Trace& into);

}  // namespace stallscope
