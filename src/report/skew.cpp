#include "report/skew.h"

#include <algorithm>
#include <tuple>

namespace stallscope {

std::vector<CollectiveSkew> collective_skew(const RunSummary& summary) {
  struct Tally {
    uint64_t count = 0;
    Ns wait = 0;
    std::map<int32_t, uint64_t> late;
  };
  std::map<std::pair<std::string, std::string>, Tally> tallies;
  for (const auto& [key, share] : summary.collectives) {
    if (share.ranks < 2) continue;
    Tally& tally = tallies[{share.name, key.group}];
    ++tally.count;
    tally.wait += std::max<Ns>(share.total - share.shortest * static_cast<Ns>(share.ranks), 0);
    ++tally.late[share.shortest_rank];
  }
  std::vector<CollectiveSkew> rows;
  for (const auto& [key, tally] : tallies) {
    const auto worst =
        std::ranges::max_element(tally.late, {}, [](const auto& entry) { return entry.second; });
    rows.push_back({key.first, key.second, tally.count, worst->first, worst->second, tally.wait});
  }
  std::ranges::sort(rows, [](const CollectiveSkew& a, const CollectiveSkew& b) {
    return std::tuple(-a.wait, std::tie(a.name, a.group)) <
           std::tuple(-b.wait, std::tie(b.name, b.group));
  });
  return rows;
}

Ns startup_total(const RankSummary& rank) {
  Ns total = 0;
  for (const StartupPhase& phase : rank.startup) total += phase.duration;
  return total;
}

const RankSummary* longest_startup(const RunSummary& summary) {
  const RankSummary* longest = nullptr;
  for (const RankSummary& rank : summary.ranks) {
    if (rank.startup.empty()) continue;
    if (longest == nullptr || startup_total(rank) > startup_total(*longest)) longest = &rank;
  }
  return longest;
}

}  // namespace stallscope
