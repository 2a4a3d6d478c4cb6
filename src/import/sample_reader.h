// Reads a process's stack samples (see trace/sample_file.h) into a Trace.
#pragma once

#include <string>

#include "base/result.h"
#include "import/segment_reader.h"
#include "trace/trace.h"

namespace stallscope {

/// Adds the samples of the file at `path`, on the tracks of the process with its
/// pid, which is added when no segment has. Damaged lines are left out and
/// counted in `into.health.repairs`; only a file of another kind is an error. Without a
/// symbolizer native functions are named "module+0xaddress". With `only`, what was seen outside
/// these windows is left out.
Status read_samples(const std::string& path, Trace& into, const Symbolizer& symbolizer = {},
                    const std::vector<CaptureWindow>* only = nullptr);

}  // namespace stallscope
