// Merging of ranks: associative and commutative, so that it can be done in any
// grouping, on any node.
#include <algorithm>
#include <tuple>

#include "analyze/align_clocks.h"
#include "analyze/analyze.h"
#include "analyze/cross_rank.h"

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

void add_shares(RunSummary& run, const std::map<CollectiveKey, CollectiveShare>& shares) {
  for (const auto& [key, share] : shares) {
    const auto [it, added] = run.collectives.emplace(key, share);
    if (!added) join(it->second, share);
  }
}

}  // namespace

RunSummary merge(RunSummary a, RunSummary b) {
  RunSummary run = std::move(a);
  std::ranges::move(b.ranks, std::back_inserter(run.ranks));
  std::ranges::sort(run.ranks, [](const RankSummary& x, const RankSummary& y) {
    return identity(x) < identity(y);
  });
  add_shares(run, b.collectives);
  align_clocks(run);
  split_communication_waits(run);
  run.cross_rank = observe_across_ranks(run);
  return run;
}

RunSummary merge_ranks(std::vector<RankSummary> ranks) {
  RunSummary run;
  run.ranks = std::move(ranks);
  std::ranges::sort(run.ranks, [](const RankSummary& x, const RankSummary& y) {
    return identity(x) < identity(y);
  });
  for (const RankSummary& rank : run.ranks) add_shares(run, rank.collectives);
  align_clocks(run);
  split_communication_waits(run);
  run.cross_rank = observe_across_ranks(run);
  return run;
}

}  // namespace stallscope
