// A schedule of torch.profiler with several cycles writes one file per cycle: parts of one
// process's trace, not traces of several ranks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "import/importer.h"

namespace stallscope {

/// `paths` with those together that may be cycles of one process: files of one folder whose names,
/// as torch.profiler's trace handler makes them, differ in nothing but the time of writing.
std::vector<std::vector<std::string>> cycles_together(std::span<const std::string> paths);

/// Reads what cycles_together() put together. Cycles of one process become one trace, with holes
/// between them; files that turn out to be of several processes stay apart, and a warning says so.
Result<std::vector<Trace>> import_cycles(std::span<const std::string> paths,
                                         const ImportOptions& options);

}  // namespace stallscope
