// NVTX ranges of an nsys export, with their domains and payloads.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "import/decimal_time.h"
#include "import/event_parser.h"
#include "import/nsys_builder.h"

namespace stallscope {
namespace {

// ENUM_NSYS_EVENT_TYPE
constexpr int64_t kMark = 34, kPushPop = 59, kStartEnd = 60, kDomainCreate = 75;
constexpr char kNoEnd[] = "range without an end closed at the last time seen";

enum Column : size_t {
  start,
  end,
  type,
  text,
  text_id,
  tid,
  domain,
  category,
  u64,
  i64,
  f64,
  u32,
  i32,
  f32,
  json,
  json_id
};
constexpr std::array<std::string_view, 16> kColumns = {
    "start",      "end",        "eventType",   "text",       "textId",      "globalTid",
    "domainId",   "category",   "uint64Value", "int64Value", "doubleValue", "uint32Value",
    "int32Value", "floatValue", "jsonText",    "jsonTextId"};

bool contains(std::string_view text, std::string_view word) {
  return std::ranges::search(text, word, [](unsigned char a, unsigned char b) {
           return std::tolower(a) == std::tolower(b);
         }).begin() != text.end();
}

// PyTorch's emit_nvtx and its kin write operators as "name, op_id = 7, seq = 3".
bool is_operator(std::string_view stem, std::string_view arguments) {
  return stem.starts_with("aten::") || arguments.find(", op_id = ") != std::string_view::npos ||
         arguments.find(", seq = ") != std::string_view::npos;
}

}  // namespace

std::pair<std::string_view, std::string_view> split_arguments(std::string_view text) {
  for (size_t comma = text.find(", "); comma != std::string_view::npos;
       comma = text.find(", ", comma + 2)) {
    size_t at = comma + 2;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_'))
      ++at;
    if (at > comma + 2 && text.substr(at).starts_with(" = "))
      return {text.substr(0, comma), text.substr(comma)};
  }
  return {text, {}};
}

// {"NCCL communicator ID": 1, "Message size [bytes]": 4096, "Root": 0}
void NsysBuilder::json_payload(std::string_view payload, uint32_t process) {
  std::optional<int64_t> rank, ranks;
  for_each_member(payload, [&](std::string_view key, std::string_view value) {
    const std::optional<int64_t> number = parse_integer(value);
    if (contains(key, "communicator")) {
      text_field(kKeyGroup, trace_.strings.intern(value));
    } else if (contains(key, "bytes") || contains(key, "message size")) {
      integer_field(kKeyBytes, number);
    } else if (contains(key, "no. of ranks") || contains(key, "nranks")) {
      ranks = number;
    } else if (key == "Rank") {
      rank = number;
    } else if (contains(key, "root") || contains(key, "peer")) {
      integer_field(kKeyPeer, number);
    } else if (number) {
      fields_.push_back(Field::of_integer(trace_.strings.intern(key), *number));
    } else {
      fields_.push_back(Field::of_text(trace_.strings.intern(key), trace_.strings.intern(value)));
    }
  });
  integer_field(kKeyWorldSize, ranks);
  // The communicator's own description names this process's rank: the largest one is the run's.
  Process& owner = trace_.processes[process];
  if (rank && ranks && *rank >= 0 && *rank < *ranks && *ranks < INT32_MAX &&
      *ranks > owner.world_size) {
    owner.rank = static_cast<int32_t>(*rank);
    owner.world_size = static_cast<int32_t>(*ranks);
  }
}

void NsysBuilder::nvtx_payload(const SqliteTable& row) {
  for (const Column column : {u64, i64, u32, i32})
    if (row.integer(column)) {
      integer_field(kKeyValue, row.integer(column));
      return;
    }
  for (const Column column : {f64, f32})
    if (row.real(column)) {
      fields_.push_back(Field::of_real(kKeyValue, *row.real(column)));
      return;
    }
}

void NsysBuilder::read_nvtx() {
  constexpr std::string_view kTable = "NVTX_EVENTS";
  std::map<std::pair<uint32_t, int64_t>, StringId> domains;  // by process and number
  SqliteTable names = database_.rows(kTable, kColumns);
  while (names.next()) {
    if (names.integer(type) != kDomainCreate) continue;
    const StringId name = names.text(text).empty() ? string(names.integer(text_id))
                                                   : trace_.strings.intern(names.text(text));
    domains[{process_of(names.integer(tid)), names.integer(domain).value_or(0)}] = name;
  }
  ended(names, kTable);

  std::vector<Event> open;  // ranges whose end the capture missed
  SqliteTable row = database_.rows(kTable, kColumns);
  while (row.next() && !full_) {
    const int64_t kind = row.integer(type).value_or(0);
    if (kind != kMark && kind != kPushPop && kind != kStartEnd) continue;
    Event event;
    event.kind = kind == kMark ? EventKind::marker : EventKind::range;
    if (!interval(row, start, end, event)) continue;
    event.track = thread_track(row.integer(tid));
    const std::string_view written =
        row.text(text).empty() ? trace_.text(string(row.integer(text_id))) : row.text(text);
    const auto [stem, arguments] = split_arguments(written);
    event.name = trace_.strings.intern(stem);
    const bool op = kind != kMark && is_operator(stem, arguments);
    event.detail =
        kind == kMark ? 0 : static_cast<uint8_t>(op ? RangeKind::op : RangeKind::annotation);
    text_field(kKeyArgs, trace_.strings.intern(arguments));
    const uint32_t process = process_of(row.integer(tid));
    const auto found = domains.find({process, row.integer(domain).value_or(0)});
    const StringId domain_name = found == domains.end() ? 0 : found->second;
    text_field(kKeyDomain, domain_name);
    if (row.integer(category).value_or(0) != 0) integer_field(kKeyCategory, row.integer(category));
    nvtx_payload(row);
    const std::string_view json_text =
        row.text(json).empty() ? trace_.text(string(row.integer(json_id))) : row.text(json);
    if (!json_text.empty()) json_payload(json_text, process);
    if (trace_.text(domain_name) == "NCCL" && stem.starts_with("nccl") &&
        classify_collective(stem) != CollectiveOp::unknown)
      text_field(kKeyCollective, event.name);
    if (kind != kMark && !row.integer(end)) {
      event.payload = trace_.add_payload(fields_);
      fields_.clear();
      open.push_back(event);
    } else {
      add(event);
    }
  }
  ended(row, kTable);
  for (Event& event : open) {
    ++repairs_[kNoEnd];
    event.duration = std::max(last_time_, event.start) - event.start;
    add(event);
  }
}

}  // namespace stallscope
