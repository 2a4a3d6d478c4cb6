// From input paths to what each of them says about its ranks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/terminal.h"
#include "cli/pipeline.h"
#include "cli/summary_file.h"

namespace stallscope {

/// Reads and analyses every path, several at once as far as cores and memory allow; a summary is
/// taken as it is, cycles of one process's profiler are one input. Each trace is gone before its
/// thread begins the next one. `take` gets one input after the other, in no particular order and
/// never two at a time, with its place among them (fewer than the paths); its error ends the
/// reading. Errors: the first path, in order, that could not be read.
Status for_each_rank_input(const std::vector<std::string>& paths, const PipelineOptions& options,
                           Progress& progress,
                           const std::function<Status(size_t input_index, RankInput input)>& take);

}  // namespace stallscope
