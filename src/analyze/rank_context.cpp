#include "analyze/rank_context.h"

#include <algorithm>

namespace stallscope {

uint32_t RankContext::step_of_host(Ns time) const {
  const auto after = std::ranges::upper_bound(steps, time, {}, &Step::host_start);
  if (after == steps.begin()) return kNoIndex;
  const auto step = static_cast<uint32_t>(after - steps.begin() - 1);
  return time < steps[step].host_end ? step : kNoIndex;
}

uint32_t RankContext::used_at(Ns time) const {
  const uint32_t step = step_of_host(time);
  return step == kNoIndex ? kNoIndex : used_rank[step];
}

bool RankContext::in_startup(Ns time) const {
  return !used.empty() && time < steps[used.front()].host_start;
}

}  // namespace stallscope
