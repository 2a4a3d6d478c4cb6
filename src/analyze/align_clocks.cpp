#include "analyze/align_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

/// Fewer matched collectives than this say nothing about a clock.
constexpr size_t kFewestMatches = 3;

// The first rank that took part in collectives.
const RankSummary* reference_of(const RunSummary& run) {
  const auto found =
      std::ranges::find_if(run.ranks, [](const RankSummary& r) { return !r.collectives.empty(); });
  return found == run.ranks.end() ? nullptr : &*found;
}

std::vector<double> differences(const RankSummary& rank, const RankSummary& reference) {
  std::vector<double> found;
  auto other = reference.collectives.begin();
  for (const auto& [key, share] : rank.collectives) {
    while (other != reference.collectives.end() && other->first < key) ++other;
    if (other == reference.collectives.end()) break;
    if (other->first == key && other->second.name == share.name)
      found.push_back(static_cast<double>(share.end - other->second.end));
  }
  return found;
}

// Without recorded numbers collectives are counted within each step, so that only steps which a
// rank recorded whole can be compared.
bool is_comparable(const RankSummary& rank, const CollectiveKey& key,
                   const CollectiveShare& share) {
  if (!key.group.ends_with("/" + share.name)) return true;
  const auto step = std::ranges::find(rank.steps, share.step, &Step::index);
  return step != rank.steps.end() && step->use == StepUse::used;
}

double ninetieth(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() * 9 / 10];
}

}  // namespace

void align_clocks(RunSummary& run) {
  run.clocks = {};
  for (RankSummary& rank : run.ranks) rank.clock_offset = 0;
  const RankSummary* reference = reference_of(run);
  if (reference == nullptr || run.ranks.size() < 2) return;
  double worst = -1;
  run.clocks.ranks = 1;
  for (RankSummary& rank : run.ranks) {
    if (&rank == reference) continue;
    std::vector<double> found = differences(rank, *reference);
    if (found.size() < kFewestMatches) continue;
    const double offset = median_of(found);
    rank.clock_offset = static_cast<Ns>(offset);
    ++run.clocks.ranks;
    run.clocks.collectives += found.size();
    for (double& difference : found) difference = std::abs(difference - offset);
    worst = std::max(worst, ninetieth(std::move(found)));
  }
  run.clocks.residual = static_cast<Ns>(worst);
}

std::vector<std::string> collective_order_faults(const RunSummary& run) {
  // Ranks of one group, with the part of its sequence that each recorded.
  struct Member {
    const RankSummary* rank = nullptr;
    int64_t first = 0, last = 0;
  };
  std::map<std::string_view, std::vector<Member>> groups;
  for (const RankSummary& rank : run.ranks) {
    for (const auto& [key, share] : rank.collectives) {
      if (!is_comparable(rank, key, share)) continue;
      std::vector<Member>& members = groups[key.group];
      if (members.empty() || members.back().rank != &rank)
        members.push_back({&rank, key.sequence, key.sequence});
      members.back().last = key.sequence;
    }
  }
  std::vector<std::string> faults;
  for (const auto& [group, members] : groups) {
    std::string fault;
    const Member& reference = members.front();
    for (size_t i = 1; i < members.size() && fault.empty(); ++i) {
      // Captures begin and end at different places: only what both cover can be compared.
      const int64_t from = std::max(reference.first, members[i].first);
      const int64_t to = std::min(reference.last, members[i].last);
      const auto& theirs = members[i].rank->collectives;
      for (auto at = reference.rank->collectives.lower_bound({std::string(group), from});
           at != reference.rank->collectives.end() && at->first.group == group &&
           at->first.sequence <= to && fault.empty();
           ++at) {
        if (!is_comparable(*reference.rank, at->first, at->second) ||
            !is_comparable(*members[i].rank, at->first, at->second))
          continue;
        const auto other = theirs.find(at->first);
        if (other == theirs.end())
          fault = fmt::format(
              "rank {} ran {} number {} of group '{}' and rank {} did not: the recording of one "
              "misses events, or the job runs collectives in different orders",
              reference.rank->rank, at->second.name, at->first.sequence, group,
              members[i].rank->rank);
        else if (other->second.name != at->second.name)
          fault = fmt::format(
              "at number {} of group '{}' rank {} ran {} and rank {} {}: ranks must run the same "
              "collectives in the same order",
              at->first.sequence, group, reference.rank->rank, at->second.name,
              members[i].rank->rank, other->second.name);
      }
    }
    if (!fault.empty()) faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace stallscope
