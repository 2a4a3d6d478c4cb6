#include "analyze/align_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "analyze/rank_groups.h"
#include "analyze/statistics.h"

namespace stallscope {
namespace {

/// Fewer matched collectives than this say nothing about a clock.
constexpr size_t kFewestMatches = 3;

// Adds how much later `b` saw the ends of the collectives that both took part in.
void add_differences(const std::vector<GroupPart>& a, const std::vector<GroupPart>& b,
                     std::vector<double>& found) {
  auto other = a.begin();
  for (const GroupPart& part : b) {
    while (other != a.end() &&
           std::tie(other->operation, other->sequence) < std::tie(part.operation, part.sequence))
      ++other;
    if (other == a.end()) return;
    if (other->is_counterpart(part) && other->share->name == part.share->name)
      found.push_back(static_cast<double>(part.share->end - other->share->end));
  }
}

double ninetieth(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() * 9 / 10];
}

// Without recorded numbers collectives are counted within each step, so that only steps which a
// rank recorded whole can be compared.
bool is_comparable(const RankSummary& rank, const GroupPart& part) {
  if (part.operation.empty()) return true;
  const Step* step = step_of(rank, part.share->step);
  return step != nullptr && step->use == StepUse::used;
}

// The group by the operation that its collectives are counted by; empty where they have numbers.
using PartsByOperation = std::map<std::string_view, std::vector<GroupPart>>;

PartsByOperation comparable_parts(const RankGroups& groups, const RankGroups::Member& member) {
  PartsByOperation parts;
  for (const GroupPart& part : groups.parts(member))
    if (is_comparable(groups.rank(member), part)) parts[part.operation].push_back(part);
  return parts;
}

// The first collective that one of two ranks ran and the other did not, or ran as another one.
std::string first_fault(const std::string& group, const RankSummary& rank,
                        const std::vector<GroupPart>& ours, const RankSummary& other_rank,
                        const std::vector<GroupPart>& theirs) {
  // Captures begin and end at different places: only what both cover can be compared.
  const int64_t from = std::max(ours.front().sequence, theirs.front().sequence);
  const int64_t to = std::min(ours.back().sequence, theirs.back().sequence);
  for (const GroupPart& part : ours) {
    if (part.sequence < from || part.sequence > to || !is_comparable(other_rank, part)) continue;
    const auto other = std::ranges::lower_bound(theirs, part.sequence, {}, &GroupPart::sequence);
    if (other == theirs.end() || other->sequence != part.sequence)
      return fmt::format(
          "rank {} ran {} number {} of group '{}' and rank {} did not: the recording of one misses "
          "events, or the job runs collectives in different orders",
          rank.rank, part.share->name, part.sequence, group, other_rank.rank);
    if (other->share->name != part.share->name)
      return fmt::format(
          "at number {} of group '{}' rank {} ran {} and rank {} {}: ranks must run the same "
          "collectives in the same order",
          part.sequence, group, rank.rank, part.share->name, other_rank.rank, other->share->name);
  }
  return {};
}

}  // namespace

void align_clocks(RunSummary& run, const RankGroups& groups) {
  run.clocks = {};
  for (RankSummary& rank : run.ranks) rank.clock_offset = 0;
  const auto reference =
      std::ranges::find_if(run.ranks, [](const RankSummary& r) { return !r.collectives.empty(); });
  if (reference == run.ranks.end() || run.ranks.size() < 2) return;
  // From rank to rank: not all of them need to share a group with the first one.
  std::vector<std::vector<const RankGroups::Group*>> groups_of(run.ranks.size());
  for (const RankGroups::Group& group : groups.all())
    for (const RankGroups::Member& member : group.members) groups_of[member.rank].push_back(&group);
  std::vector<bool> aligned(run.ranks.size(), false);
  const auto first = static_cast<size_t>(reference - run.ranks.begin());
  aligned[first] = true;
  std::deque<size_t> next = {first};
  double worst = -1;
  run.clocks.ranks = 1;
  while (!next.empty()) {
    const size_t known = next.front();
    next.pop_front();
    std::map<size_t, std::vector<double>> found;
    for (const RankGroups::Group* group : groups_of[known]) {
      const auto own = std::ranges::find(group->members, known, &RankGroups::Member::rank);
      std::vector<GroupPart> parts;
      for (const RankGroups::Member& member : group->members) {
        if (aligned[member.rank]) continue;
        if (parts.empty()) parts = groups.parts(*own);
        add_differences(parts, groups.parts(member), found[member.rank]);
      }
    }
    for (auto& [rank, differences] : found) {
      if (differences.size() < kFewestMatches) continue;
      const double offset = median_of(differences);
      run.ranks[rank].clock_offset = run.ranks[known].clock_offset + static_cast<Ns>(offset);
      aligned[rank] = true;
      next.push_back(rank);
      ++run.clocks.ranks;
      run.clocks.collectives += differences.size();
      for (double& difference : differences) difference = std::abs(difference - offset);
      worst = std::max(worst, ninetieth(std::move(differences)));
    }
  }
  run.clocks.residual = static_cast<Ns>(worst);
}

std::vector<std::string> collective_order_faults(const RunSummary& run) {
  const RankGroups groups(run.ranks);
  std::vector<std::string> faults;
  for (const RankGroups::Group& group : groups.all()) {
    std::map<std::string_view, std::pair<const RankSummary*, std::vector<GroupPart>>> references;
    std::map<std::string_view, bool> faulty;
    for (const RankGroups::Member& member : group.members) {
      const RankSummary& rank = groups.rank(member);
      for (auto& [operation, parts] : comparable_parts(groups, member)) {
        const auto [it, added] =
            references.try_emplace(operation, std::pair(&rank, std::vector<GroupPart>{}));
        if (added) {
          it->second.second = std::move(parts);
          continue;
        }
        if (faulty[operation]) continue;
        const std::string label =
            operation.empty() ? group.label : group.label + "/" + std::string(operation);
        std::string fault = first_fault(label, *it->second.first, it->second.second, rank, parts);
        if (fault.empty()) continue;
        faulty[operation] = true;
        faults.push_back(std::move(fault));
      }
    }
  }
  return faults;
}

}  // namespace stallscope
