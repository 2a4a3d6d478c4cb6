#include "analyze/late_ranks.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

/// Arrivals that differ by less are the ordinary spread.
constexpr Ns kOrdinarySpread = 20'000;
/// A rank is late when it waits for less than this share of what the middle rank waits.
constexpr double kLate = 0.2;
/// And is named when it is late in this share of the time that the middle rank waits.
constexpr double kMostly = 0.6;
/// A group's messages are slow when they take this much longer than those of its sisters.
constexpr double kSlower = 1.2;
constexpr double kSlowerNs = 20'000;
/// The usual time among fewer groups would be a guess.
constexpr size_t kFewestSisters = 3;
constexpr size_t kFewestMessages = 3;

struct Arrival {
  int32_t rank;
  Ns duration;
};
/// Of one operation of one group, the parts of each collective.
using Arrivals = std::map<int64_t, std::vector<Arrival>>;

// The parts of a group that lie in used steps; all of them where no step could be used.
std::vector<GroupPart> used_parts(const RankGroups& groups, const RankGroups::Member& member) {
  const RankSummary& rank = groups.rank(member);
  const auto is_used = [](const Step& step) { return step.use == StepUse::used; };
  std::vector<GroupPart> parts = groups.parts(member);
  if (std::ranges::any_of(rank.steps, is_used))
    std::erase_if(parts, [&](const GroupPart& part) {
      const Step* step = step_of(rank, part.share->step);
      return step != nullptr && !is_used(*step);
    });
  return parts;
}

std::map<WaitKey, Arrivals> arrivals_of(const RankGroups& groups, const RankGroups::Group& group) {
  std::map<WaitKey, Arrivals> arrivals;
  for (const RankGroups::Member& member : group.members) {
    const RankSummary& rank = groups.rank(member);
    for (const GroupPart& part : used_parts(groups, member)) {
      const std::string label =
          part.operation.empty() ? group.label : group.label + "/" + std::string(part.operation);
      arrivals[{part.share->name, label}][part.sequence].push_back({rank.rank, part.share->total});
    }
  }
  return arrivals;
}

Ns middle(const std::vector<Arrival>& parts) {
  std::vector<Ns> durations;
  for (const Arrival& part : parts) durations.push_back(part.duration);
  const auto at = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::ranges::nth_element(durations, at);
  return *at;
}

std::vector<int32_t> late_minority(const Arrivals& arrivals) {
  std::map<int32_t, double> late;
  double all = 0;
  size_t ranks = 0;
  for (const auto& [sequence, parts] : arrivals) {
    ranks = std::max(ranks, parts.size());
    if (parts.size() < 3) continue;
    const Ns shortest = std::ranges::min(parts, {}, &Arrival::duration).duration;
    const Ns waited = middle(parts) - shortest;
    if (waited < kOrdinarySpread) continue;
    all += static_cast<double>(waited);
    for (const Arrival& part : parts)
      if (static_cast<double>(part.duration - shortest) < kLate * static_cast<double>(waited))
        late[part.rank] += static_cast<double>(waited);
  }
  std::vector<int32_t> found;
  for (const auto& [rank, waited] : late)
    if (waited >= kMostly * all) found.push_back(rank);
  if (found.size() * 2 >= ranks) found.clear();
  return found;
}

// The host of these ranks, when all of its ranks are among them and others are elsewhere.
std::string own_host(const RunSummary& run, const std::vector<int32_t>& ranks) {
  std::set<std::string> inside, outside;
  for (const RankSummary& rank : run.ranks)
    (std::ranges::binary_search(ranks, rank.rank) ? inside : outside).insert(rank.host);
  if (inside.size() != 1 || inside.begin()->empty() || outside.contains(*inside.begin())) return {};
  return *inside.begin();
}

/// The messages of a group: how long each took once its last rank had come.
using Messages = std::map<int64_t, double>;

Messages messages_of(const Arrivals& arrivals, size_t ranks) {
  Messages messages;
  for (const auto& [sequence, parts] : arrivals)
    if (parts.size() == ranks)  // all of them, or the shortest may be missing
      messages[sequence] =
          static_cast<double>(std::ranges::min(parts, {}, &Arrival::duration).duration);
  return messages;
}

struct Sister {
  const RankGroups::Group* group = nullptr;
  std::string label;
  Messages messages;
};

/// What sisters have in common: the operation, how their ranks lie, and how much they send. (Groups
/// of tensor and of data parallelism can be of one size.)
using Family = std::tuple<std::string, std::vector<int32_t>, std::multiset<double>>;

Family family_of(const RankGroups& groups, const RankGroups::Group& group,
                 const std::string& operation) {
  std::vector<int32_t> shape;
  for (const RankGroups::Member& member : group.members)
    shape.push_back(groups.rank(member).rank - groups.rank(group.members.front()).rank);
  std::multiset<double> bytes;
  const RankGroups::Member& first = group.members.front();
  for (const Observation& row : groups.rank(first).observations) {
    const auto name = row.texts.find("group");
    const auto size = row.numbers.find("bytes");
    if (row.kind == "collective" && row.subject == operation && name != row.texts.end() &&
        name->second == first.name && size != row.numbers.end())
      bytes.insert(size->second);
  }
  return {operation, std::move(shape), std::move(bytes)};
}

Observation slow_link(const RankGroups& groups, const Sister& sister, const std::string& operation,
                      double took, double usual, size_t count, size_t steps, size_t sisters) {
  Observation row;
  std::vector<int32_t> ranks;
  for (const RankGroups::Member& member : sister.group->members)
    ranks.push_back(groups.rank(member).rank);
  std::ranges::sort(ranks);
  row.kind = "slow-link";
  row.subject = operation;
  row.rank = ranks.front();
  row.cause = "the link between " + ranks_text(ranks);
  row.texts["late_ranks"] = rank_list(ranks);
  row.texts["group"] = sister.label;
  row.texts["operation"] = operation;
  const double per_step = static_cast<double>(count) / static_cast<double>(steps);
  row.count = {.median = per_step,
               .maximum = per_step,
               .total = static_cast<double>(count),
               .steps_affected = static_cast<uint32_t>(steps),
               .steps = static_cast<uint32_t>(steps)};
  row.numbers["message_ns"] = took;
  row.numbers["usual_ns"] = usual;
  row.numbers["ratio"] = took / usual;
  row.numbers["slower_ns"] = (took - usual) * per_step;
  row.numbers["sister_groups"] = static_cast<double>(sisters);
  return row;
}

void compare_sisters(const RankGroups& groups, const std::string& operation,
                     const std::vector<Sister>& sisters, std::vector<Observation>& observations) {
  std::map<int64_t, double> usual;
  std::map<int64_t, std::vector<double>> by_number;
  for (const Sister& sister : sisters)
    for (const auto& [sequence, took] : sister.messages) by_number[sequence].push_back(took);
  for (auto& [sequence, times] : by_number)
    if (times.size() >= kFewestSisters) usual[sequence] = median_of(std::move(times));
  for (const Sister& sister : sisters) {
    std::vector<double> took, typical, ratio;
    for (const auto& [sequence, time] : sister.messages) {
      const auto other = usual.find(sequence);
      if (other == usual.end() || other->second <= 0) continue;
      took.push_back(time);
      typical.push_back(other->second);
      ratio.push_back(time / other->second);
    }
    if (took.size() < kFewestMessages || median_of(ratio) < kSlower) continue;
    const double own = median_of(took), theirs = median_of(typical);
    if (own - theirs < kSlowerNs) continue;
    std::set<uint32_t> steps;
    const RankGroups::Member& first = sister.group->members.front();
    for (const GroupPart& part : used_parts(groups, first)) steps.insert(part.share->step);
    observations.push_back(slow_link(groups, sister, operation, own, theirs, took.size(),
                                     std::max<size_t>(steps.size(), 1), sisters.size()));
  }
}

}  // namespace

std::map<WaitKey, LateRanks> late_ranks(const RunSummary& run, const RankGroups& groups) {
  std::map<WaitKey, LateRanks> found;
  for (const RankGroups::Group& group : groups.all()) {
    if (group.members.size() < 3) continue;
    for (const auto& [key, arrivals] : arrivals_of(groups, group)) {
      LateRanks late{late_minority(arrivals), {}};
      if (late.ranks.empty()) continue;
      late.text = ranks_text(late.ranks);
      if (const std::string host = own_host(run, late.ranks); !host.empty())
        late.text += " (all of host " + host + ")";
      found.emplace(key, std::move(late));
    }
  }
  return found;
}

void observe_slow_links(const RunSummary& run, const RankGroups& groups,
                        std::vector<Observation>& observations) {
  if (run.ranks.size() < 2 * kFewestSisters) return;
  std::map<Family, std::vector<Sister>> families;
  for (const RankGroups::Group& group : groups.all()) {
    if (group.members.size() < 2 || group.members.size() == run.ranks.size()) continue;
    for (const auto& [key, arrivals] : arrivals_of(groups, group))
      families[family_of(groups, group, key.first)].push_back(
          {&group, key.second, messages_of(arrivals, group.members.size())});
  }
  for (const auto& [family, sisters] : families)
    if (sisters.size() >= kFewestSisters)
      compare_sisters(groups, std::get<0>(family), sisters, observations);
}

}  // namespace stallscope
