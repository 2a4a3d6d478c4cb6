// Abstentions: reasons why the data cannot carry a verdict on the step time.
#pragma once

#include <string>
#include <vector>

#include "analyze/rank_context.h"

namespace stallscope {

/// One sentence each: what is wrong and which results hold all the same. Empty = fine.
std::vector<std::string> abstentions(const RankContext& context);

}  // namespace stallscope
