// Prices the observations of a rank by replaying its steps without them.
#pragma once

#include "analyze/summary.h"
#include "replay/simulate.h"
#include "trace/trace.h"

namespace stallscope {

/// The what-if that fits an observation of this kind; `none` when there is none.
ReplayModel model_of(std::string_view observation_kind);

/// Fills, for every observation whose events lie in the replayed steps,
/// numbers["replay_saved_ns"] (per step), and rank.replay_error with the
/// relative difference between the unchanged replay and the measured steps.
/// Leaves both unset when the steps cannot be replayed.
void price_by_replay(const Trace& trace, RankSummary& rank);

}  // namespace stallscope
