// Merging of ranks: associative and commutative, so that it can be done in any
// grouping, on any node.
#include <algorithm>
#include <tuple>

#include "analyze/align_clocks.h"
#include "analyze/analyze.h"
#include "analyze/cross_rank.h"
#include "analyze/rank_groups.h"

namespace stallscope {
namespace {

auto identity(const RankSummary& rank) {
  return std::tie(rank.rank, rank.pid, rank.device, rank.host);
}

// All parts of a collective end together, so the shortest one arrived last. Ties go to the lowest
// rank, or the result would depend on the order.
void join(CollectiveShare& into, const CollectiveShare& other) {
  if (std::tie(other.shortest, other.shortest_rank) < std::tie(into.shortest, into.shortest_rank)) {
    into.shortest = other.shortest;
    into.shortest_rank = other.shortest_rank;
    into.name = other.name;
    into.step = other.step;
  }
  into.total += other.total;
  into.ranks += other.ranks;
}

// What only all ranks together show.
void summarise(RunSummary& run) {
  std::ranges::sort(run.ranks, [](const RankSummary& x, const RankSummary& y) {
    return identity(x) < identity(y);
  });
  const RankGroups groups(run.ranks);
  run.collectives.clear();
  for (size_t i = 0; i < run.ranks.size(); ++i) {
    for (const auto& [key, share] : run.ranks[i].collectives) {
      const auto [it, added] = run.collectives.emplace(groups.joined(i, key, share), share);
      if (!added) join(it->second, share);
    }
  }
  align_clocks(run, groups);
  split_communication_waits(run, groups);
  measure_transfers(run, groups);
  run.cross_rank = observe_across_ranks(run, groups);
}

}  // namespace

RunSummary merge(RunSummary a, RunSummary b) {
  RunSummary run = std::move(a);
  std::ranges::move(b.ranks, std::back_inserter(run.ranks));
  summarise(run);
  return run;
}

RunSummary merge_ranks(std::vector<RankSummary> ranks) {
  RunSummary run;
  run.ranks = std::move(ranks);
  summarise(run);
  return run;
}

}  // namespace stallscope
