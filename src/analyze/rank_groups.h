// RankGroups: which ranks form a communicator, over all ranks of a run. Every
// process names its groups for itself, so that one name can stand for several
// groups and one group can have several names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/summary.h"

namespace stallscope {

/// A rank's part in one collective of a group.
struct GroupPart {
  std::string_view operation;  ///< empty where the group itself numbers its collectives
  int64_t sequence = 0;
  const CollectiveShare* share = nullptr;
  bool is_counterpart(const GroupPart& other) const {
    return operation == other.operation && sequence == other.sequence;
  }
};

/// What `rank` recorded of the group that it calls `group`, by operation and number.
std::vector<GroupPart> parts_of(const RankSummary& rank, std::string_view group);

/// Where recorded numbers are missing, collectives are counted within each step, by operation.
std::string_view group_name(const CollectiveKey& key, const CollectiveShare& share);

class RankGroups {
 public:
  struct Member {
    size_t rank = 0;   ///< index into the ranks
    std::string name;  ///< what this rank calls the group
  };
  struct Group {
    std::string label;
    std::vector<Member> members;  ///< in the order of ranks
  };

  /// `ranks` must outlive this.
  explicit RankGroups(const std::vector<RankSummary>& ranks);

  const std::vector<Group>& all() const { return groups_; }
  const RankSummary& rank(const Member& member) const { return ranks_[member.rank]; }
  std::vector<GroupPart> parts(const Member& member) const {
    return parts_of(rank(member), member.name);
  }
  /// The key that all parts of a collective share, of a rank's own key.
  CollectiveKey joined(size_t rank, const CollectiveKey& own, const CollectiveShare& share) const;

 private:
  void add(std::string label, std::vector<Member> members);
  void split(const std::string& name, const std::vector<size_t>& ranks, size_t size);
  void join_incomplete(std::map<size_t, std::vector<Group>> by_size);

  const std::vector<RankSummary>& ranks_;
  std::vector<Group> groups_;
  std::map<std::pair<size_t, std::string>, std::string> renamed_;
};

/// The rank's step of this index; nullptr when it has none.
const Step* step_of(const RankSummary& rank, uint32_t index);

/// "ranks 0-7", "ranks 0, 8, 16 and 24": the ranks must be in order.
std::string ranks_text(const std::vector<int32_t>& ranks);
/// "3, 4": for programs.
std::string rank_list(const std::vector<int32_t>& ranks);

}  // namespace stallscope
