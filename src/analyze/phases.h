// Phases of a step: the outermost ranges that the program, its framework or the
// recorder put on the step's thread (data wait, forward, backward, optimizer).
#pragma once

#include <vector>

#include "analyze/rank_context.h"

namespace stallscope {

/// Host time of the used steps by phase, longest first, at most 20; then the rest of the step with
/// an empty name. Empty where no range lies within the steps. A range that fills nearly all of a
/// step gives way to those inside it; well-known parts (backward, optimizer.step, waits for data,
/// compilation) are taken out of what holds them.
std::vector<PhaseShare> phases_of(const RankContext& context);

}  // namespace stallscope
