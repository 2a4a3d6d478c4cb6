// Process groups of a Kineto trace. The name of a group is given by each
// process for itself; its members are the same on all of them, so that events
// are given a group by its members where the trace tells them.
#include <algorithm>
#include <charconv>
#include <map>

#include "import/event_parser.h"
#include "import/kineto_builder.h"

namespace stallscope {
namespace {

constexpr int64_t kMostMembers = 1 << 20;

// "[0, 1, 2]"; none when it is shortened ("[0, 1, ..., 7]") or no list.
std::vector<int64_t> listed(std::string_view text) {
  std::vector<int64_t> members;
  const size_t open = text.find('[');
  if (open == std::string_view::npos) return {};
  const char* at = text.data() + open + 1;
  const char* const end = text.data() + text.size();
  while (at < end && *at != ']') {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    int64_t rank = 0;
    const auto [rest, code] = std::from_chars(at, end, rank);
    if (code != std::errc{} || rank < 0) return {};
    members.push_back(rank);
    at = rest;
  }
  if (at == end) return {};
  return members;
}

std::vector<int64_t> strided(int64_t first, int64_t stride, int64_t size) {
  if (first < 0 || stride < 1 || size < 1 || size > kMostMembers || stride > kMostMembers)
    return {};
  std::vector<int64_t> members;
  for (int64_t i = 0; i < size; ++i) members.push_back(first + i * stride);
  return members;
}

// "ranks 0-7", "ranks 0-56 by 8", "ranks 0,3,5".
std::string label_of(const std::vector<int64_t>& members) {
  if (members.size() == 1) return "rank " + std::to_string(members[0]);
  const int64_t stride = members[1] - members[0];
  bool regular = stride > 0 && members.size() > 2;
  for (size_t i = 1; i < members.size(); ++i)
    regular = regular && members[i] - members[i - 1] == stride;
  if (regular)
    return "ranks " + std::to_string(members.front()) + "-" + std::to_string(members.back()) +
           (stride == 1 ? "" : " by " + std::to_string(stride));
  std::string text = "ranks ";
  for (const int64_t member : members)
    text += (text.size() > 6 ? "," : "") + std::to_string(member);
  return text;
}

// Processes create groups in one order and number them: "2" before "10".
bool created_before(const std::string& a, const std::string& b) {
  return std::pair(a.size(), a) < std::pair(b.size(), b);
}

}  // namespace

void KinetoBuilder::describe_groups(std::string_view config) {
  for (size_t at = config.find('{'); at != std::string_view::npos; at = config.find('{', at)) {
    const size_t extent = json_extent(config.substr(at));
    if (extent == std::string_view::npos) return;
    std::string name;
    std::vector<int64_t> members;
    for_each_member(config.substr(at, extent), [&](std::string_view key, std::string_view value) {
      if (key == "pg_name") name = value;
      if (key == "ranks") members = listed(value);
    });
    if (!name.empty() && !members.empty()) group_members_.try_emplace(name, std::move(members));
    at += extent;
  }
}

void KinetoBuilder::group_field(const RawEvent& raw) {
  std::string name(raw.has(Arg::group_name) ? raw.text(Arg::group_name) : raw.text(Arg::group_id));
  // Older profilers name no group; where the process has one only, it is that.
  if (name.empty() && group_members_.size() == 1) name = group_members_.begin()->first;
  if (name.empty()) return;
  fields_.push_back(Field::of_text(kKeyGroup, trace_.strings.intern(name)));
  // A list that is not of the group's size is of something else.
  const std::optional<int64_t> size = raw.integer(Arg::group_size, repairs_);
  const auto known = group_members_.find(name);
  if (size && known != group_members_.end() && static_cast<int64_t>(known->second.size()) != *size)
    group_members_.erase(known);
  if (!raw.has(Arg::group_ranks) && !raw.has(Arg::rank_stride)) return;
  if (group_members_.contains(name)) return;
  std::vector<int64_t> members = listed(raw.text(Arg::group_ranks));
  if (members.empty())
    members = strided(raw.integer(Arg::rank_start, repairs_).value_or(-1),
                      raw.integer(Arg::rank_stride, repairs_).value_or(-1),
                      raw.integer(Arg::group_size, repairs_).value_or(0));
  if (!members.empty() && (!size || static_cast<int64_t>(members.size()) == *size))
    group_members_.emplace(std::move(name), std::move(members));
}

void KinetoBuilder::name_groups_by_members() {
  if (group_members_.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, members] : group_members_) names.push_back(name);
  std::ranges::sort(names, created_before);
  std::map<std::string, int> alike;  // groups of equal members are told apart by their order
  std::map<StringId, StringId> labels;
  for (const std::string& name : names) {
    std::string label = label_of(group_members_[name]);
    if (const int number = ++alike[label]; number > 1) label += " #" + std::to_string(number);
    labels[trace_.strings.intern(name)] = trace_.strings.intern(label);
  }
  std::unordered_map<PayloadId, PayloadId> renamed;
  std::vector<Field> fields;
  for (EventId id = 0; id < trace_.size(); ++id) {
    const PayloadId payload = trace_.payloads()[id];
    if (payload == 0 || !group_payloads_.contains(payload)) continue;
    const auto [it, added] = renamed.try_emplace(payload, payload);
    if (added) {
      const std::span<const Field> own = trace_.payload(payload);
      fields.assign(own.begin(), own.end());
      for (Field& field : fields) {
        if (field.key != kKeyGroup) continue;
        const auto label = labels.find(field.text);
        if (label != labels.end()) field.text = label->second;
      }
      it->second = trace_.add_payload(fields);
    }
    trace_.set_payload(id, it->second);
  }
}

}  // namespace stallscope
