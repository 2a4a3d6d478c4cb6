// Observations: what each analysis saw. One file per kind or family of kinds.
#pragma once

#include "analyze/rank_context.h"
#include "analyze/summary.h"

namespace stallscope {

/// Fills observations, slow steps, startup phases, kernel table and timelines.
void observe_all(const RankContext& context, RankSummary& summary);

}  // namespace stallscope
