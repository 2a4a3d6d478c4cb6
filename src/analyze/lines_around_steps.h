// Source lines that the training loop itself runs under.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "analyze/places.h"
#include "analyze/rank_context.h"

namespace stallscope {

using Line = std::pair<std::string, uint32_t>;  ///< file, line

/// The lines in the stacks of all events that begin a step: the call that holds the loop, a loop in
/// a framework's trainer, the line that makes the marking call. Empty when those have no stacks.
std::set<Line> lines_around_steps(const RankContext& context, SiteTable& sites);

}  // namespace stallscope
