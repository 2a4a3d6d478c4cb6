// Reports as the pipeline would build them, without a pipeline: for the tests
// of the formats and for those that look at report.html in a browser.
#pragma once

#include "report/report.h"

namespace stallscope::sample {

/// Two GPU ranks, ten findings, hostile strings, slow steps, start-up, kernels.
Report full();
/// GPU rank without kernels: no verdict may be given.
Report abstaining();
/// A run of one process on the host in which nothing was found.
Report clean();
/// Nothing at all: an empty trace.
Report empty();
/// `full` with many ranks, to see what the page does with them.
Report many_ranks(int ranks);

/// Rows for the tables of host costs, hot functions and lines, and CUDA graphs.
std::vector<Observation> host_observations();

}  // namespace stallscope::sample
