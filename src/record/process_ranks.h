// Ranks of programs that no launcher numbered: torch.multiprocessing.spawn,
// Lightning's own start of its processes, jax.distributed.
#pragma once

#include <span>
#include <string>

#include "record/annotations.h"

namespace stallscope {

/// Writes into the segments of `recording_folder` the ranks that their processes took when they
/// joined the others. A launcher's own numbers stand. Segments that cannot be written stay as they
/// are.
void name_ranks(const std::string& recording_folder, std::span<const ProcessRank> ranks);

}  // namespace stallscope
