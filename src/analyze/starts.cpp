#include "analyze/starts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace stallscope {
namespace {

/// Indices into the ranks of one rank's starts, in the order of time.
using Starts = std::vector<size_t>;

// One process after the other: whatever else has a rank's number twice ran at the same time.
bool follow_each_other(const std::vector<RankSummary>& ranks, const Starts& starts) {
  for (size_t i = 1; i < starts.size(); ++i) {
    const RankSummary &before = ranks[starts[i - 1]], &after = ranks[starts[i]];
    if (before.host != after.host || before.pid == after.pid ||
        before.steps.back().host_end > after.steps.front().host_start)
      return false;
  }
  return true;
}

std::vector<Starts> starts_of(const std::vector<RankSummary>& ranks) {
  std::map<std::pair<int32_t, int32_t>, Starts> by_rank;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].rank >= 0 && ranks[i].world_size > 1 && !ranks[i].steps.empty())
      by_rank[{ranks[i].rank, ranks[i].device}].push_back(i);
  std::vector<Starts> all;
  for (auto& [rank, starts] : by_rank) {
    std::ranges::sort(starts, {}, [&](size_t i) { return ranks[i].steps.front().host_start; });
    if (follow_each_other(ranks, starts)) all.push_back(std::move(starts));
  }
  return all;
}

uint64_t count_used(const RankSummary& rank) {
  return static_cast<uint64_t>(std::ranges::count(rank.steps, StepUse::used, &Step::use));
}

// How many starts before the last one. A rank may have failed before its first step, so that what
// is common to all is counted from the end.
size_t starts_back(const std::vector<RankSummary>& ranks, const std::vector<Starts>& all) {
  size_t most = 0;
  for (const Starts& starts : all) most = std::max(most, starts.size());
  for (size_t back = 0; back < most; ++back)
    if (std::ranges::all_of(all, [&](const Starts& starts) {
          return back < starts.size() && count_used(ranks[starts[starts.size() - 1 - back]]) > 0;
        }))
      return back;
  return 0;
}

}  // namespace

std::string keep_last_start(std::vector<RankSummary>& ranks) {
  const std::vector<Starts> all = starts_of(ranks);
  const size_t back = starts_back(ranks, all);
  std::vector<bool> dropped(ranks.size(), false);
  size_t times = 1;
  uint64_t steps = 0;
  for (const Starts& starts : all) {
    times = std::max(times, starts.size());
    for (size_t i = 0; i < starts.size(); ++i) {
      if (i + 1 + back == starts.size()) continue;
      dropped[starts[i]] = true;
      steps += ranks[starts[i]].steps.size();
    }
  }
  if (times == 1) return {};
  size_t at = 0;
  std::erase_if(ranks, [&](const RankSummary&) { return dropped[at++]; });
  return fmt::format(
      "The ranks were started {} times, as a launcher does after a failure: this report is of the "
      "last start in which all took steps, and leaves out {} steps of the others",
      times, steps);
}

}  // namespace stallscope
