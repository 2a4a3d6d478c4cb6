#include "analyze/rank_groups.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

/// Fewer matched collectives than this say nothing about who took part.
constexpr size_t kFewestShared = 3;
/// More of them would not tell more.
constexpr size_t kMostMatches = 256;
/// Parts of one collective end together but for the last hops; those of two groups end apart by
/// what their ranks' compute differs.
constexpr double kEndsTogether = 50'000;

bool same_name(const GroupPart& a, const GroupPart& b) {
  return a.share->name == b.share->name;
}

// How far apart two ranks' collectives end once their clocks are aligned; infinite when they did
// not run the same ones. Two vectors in the same order.
double apart(const std::vector<GroupPart>& a, const std::vector<GroupPart>& b) {
  std::vector<double> differences;
  auto other = b.begin();
  for (const GroupPart& part : a) {
    while (other != b.end() &&
           std::tie(other->operation, other->sequence) < std::tie(part.operation, part.sequence))
      ++other;
    if (other == b.end() || differences.size() == kMostMatches) break;
    if (!part.is_counterpart(*other)) continue;
    if (!same_name(part, *other)) return std::numeric_limits<double>::infinity();
    differences.push_back(static_cast<double>(part.share->end - other->share->end));
  }
  if (differences.size() < kFewestShared) return std::numeric_limits<double>::infinity();
  return median_deviation(differences);
}

// Ranks in the group called `name`, as this rank's collectives say it; 0 = unknown.
size_t stated_size(const RankSummary& rank, std::string_view name) {
  for (const Observation& seen : rank.observations) {
    const auto group = seen.texts.find("group");
    const auto size = seen.numbers.find("world_size");
    if (seen.kind == "collective" && group != seen.texts.end() && group->second == name &&
        size != seen.numbers.end() && size->second >= 1)
      return static_cast<size_t>(size->second);
  }
  return 0;
}

}  // namespace

std::string_view group_name(const CollectiveKey& key, const CollectiveShare& share) {
  std::string_view group = key.group;
  if (group.size() > share.name.size() && group.ends_with(share.name) &&
      group[group.size() - share.name.size() - 1] == '/')
    group.remove_suffix(share.name.size() + 1);
  return group;
}

std::vector<GroupPart> parts_of(const RankSummary& rank, std::string_view group) {
  std::vector<GroupPart> parts;
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  const auto& all = rank.collectives;
  for (auto at = all.lower_bound({std::string(group), kFirst});
       at != all.end() && at->first.group == group; ++at)
    if (group_name(at->first, at->second) == group)
      parts.push_back({{}, at->first.sequence, &at->second});
  const std::string prefix = std::string(group) + "/";
  for (auto at = all.lower_bound({prefix, kFirst});
       at != all.end() && at->first.group.starts_with(prefix); ++at)
    if (group_name(at->first, at->second) == group)
      parts.push_back({at->second.name, at->first.sequence, &at->second});
  return parts;
}

const Step* step_of(const RankSummary& rank, uint32_t index) {
  if (index < rank.steps.size() && rank.steps[index].index == index) return &rank.steps[index];
  const auto found = std::ranges::find(rank.steps, index, &Step::index);
  return found == rank.steps.end() ? nullptr : &*found;
}

std::string ranks_text(const std::vector<int32_t>& ranks) {
  if (ranks.empty()) return "no ranks";
  if (ranks.size() == 1) return "rank " + std::to_string(ranks.front());
  const int32_t stride = ranks[1] - ranks[0];
  bool regular = ranks.size() > 2 && stride > 0;
  for (size_t i = 1; i < ranks.size(); ++i) regular = regular && ranks[i] - ranks[i - 1] == stride;
  if (regular && (stride == 1 || ranks.size() > 8))
    return "ranks " + std::to_string(ranks.front()) + "-" + std::to_string(ranks.back()) +
           (stride == 1 ? "" : " by " + std::to_string(stride));
  std::string text = "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    text += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  return text;
}

std::string rank_list(const std::vector<int32_t>& ranks) {
  std::string text;
  for (const int32_t rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

RankGroups::RankGroups(const std::vector<RankSummary>& ranks) : ranks_(ranks) {
  struct Named {
    std::vector<size_t> ranks;
    size_t size = 0;
  };
  std::map<std::string, Named> names;
  for (size_t i = 0; i < ranks.size(); ++i) {
    std::string_view last;
    bool any = false;
    for (const auto& [key, share] : ranks[i].collectives) {
      const std::string_view name = group_name(key, share);
      if (any && name == last) continue;
      any = true;
      last = name;
      Named& named = names[std::string(name)];
      if (!named.ranks.empty() && named.ranks.back() == i) continue;
      named.ranks.push_back(i);
      named.size = std::max(named.size, stated_size(ranks[i], name));
    }
  }
  std::map<size_t, std::vector<Group>> incomplete;
  for (auto& [name, named] : names) {
    if (named.size > 1 && named.ranks.size() > named.size) {
      split(name, named.ranks, named.size);
      continue;
    }
    std::vector<Member> members;
    for (const size_t rank : named.ranks) members.push_back({rank, name});
    if (named.ranks.size() < named.size)
      incomplete[named.size].push_back({name, std::move(members)});
    else
      add(name, std::move(members));
  }
  join_incomplete(std::move(incomplete));
  std::ranges::sort(groups_, {}, &Group::label);
}

void RankGroups::add(std::string label, std::vector<Member> members) {
  for (const Member& member : members)
    if (member.name != label) renamed_[{member.rank, member.name}] = label;
  groups_.push_back({std::move(label), std::move(members)});
}

// One name for several groups: those belong together whose collectives end together.
void RankGroups::split(const std::string& name, const std::vector<size_t>& ranks, size_t size) {
  std::map<size_t, std::vector<GroupPart>> parts;
  for (const size_t rank : ranks) parts[rank] = parts_of(ranks_[rank], name);
  std::vector<size_t> left = ranks;
  // When no rank is missing every group is full, however far apart its parts end.
  const bool complete =
      ranks.size() % size == 0 && ranks.size() == static_cast<size_t>(ranks_[ranks[0]].world_size);
  while (!left.empty()) {
    std::vector<std::pair<double, size_t>> others;
    for (size_t i = 1; i < left.size(); ++i) {
      const double distance = apart(parts[left[0]], parts[left[i]]);
      if (distance <= kEndsTogether || (complete && std::isfinite(distance)))
        others.emplace_back(distance, left[i]);
    }
    std::ranges::sort(others);
    if (others.size() >= size) others.resize(size - 1);
    std::vector<size_t> together = {left[0]};
    for (const auto& [distance, rank] : others) together.push_back(rank);
    std::ranges::sort(together);
    std::vector<Member> members;
    std::vector<int32_t> numbers;
    for (const size_t rank : together) {
      members.push_back({rank, name});
      numbers.push_back(ranks_[rank].rank);
      std::erase(left, rank);
    }
    add((name.empty() ? "" : name + ": ") + ranks_text(numbers), std::move(members));
  }
}

// Several names for one group: each has fewer ranks than the group has, and what they ran is the
// same and ended together.
void RankGroups::join_incomplete(std::map<size_t, std::vector<Group>> by_size) {
  for (auto& [size, groups] : by_size) {
    std::vector<std::vector<GroupPart>> first;
    for (const Group& group : groups) first.push_back(parts(group.members.front()));
    std::vector<bool> taken(groups.size(), false);
    for (size_t i = 0; i < groups.size(); ++i) {
      if (taken[i]) continue;
      Group& whole = groups[i];
      for (size_t j = i + 1; j < groups.size() && whole.members.size() < size; ++j) {
        if (taken[j] || whole.members.size() + groups[j].members.size() > size) continue;
        const bool shares_rank = std::ranges::any_of(groups[j].members, [&](const Member& member) {
          return std::ranges::find(whole.members, member.rank, &Member::rank) !=
                 whole.members.end();
        });
        if (shares_rank || apart(first[i], first[j]) > kEndsTogether) continue;
        taken[j] = true;
        whole.members.insert(whole.members.end(), groups[j].members.begin(),
                             groups[j].members.end());
      }
      std::ranges::sort(whole.members, {}, &Member::rank);
      add(std::move(whole.label), std::move(whole.members));
    }
  }
}

CollectiveKey RankGroups::joined(size_t rank, const CollectiveKey& own,
                                 const CollectiveShare& share) const {
  if (renamed_.empty()) return own;
  const std::string name(group_name(own, share));
  const auto found = renamed_.find({rank, name});
  if (found == renamed_.end()) return own;
  return {found->second + own.group.substr(name.size()), own.sequence};
}

}  // namespace stallscope
