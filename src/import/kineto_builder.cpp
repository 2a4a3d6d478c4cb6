#include "import/kineto_builder.h"

#include <algorithm>
#include <cstring>

namespace stallscope {
namespace {

constexpr char kNoTime[] = "event without a readable time skipped";
constexpr char kNoDuration[] = "missing duration read as 0";
constexpr char kNegative[] = "negative duration read as 0";
constexpr char kUnmatchedEnd[] = "end without a begin skipped";
constexpr char kAsync[] = "asynchronous range skipped";
constexpr int64_t kInvalidStream = 0xFFFFFFFF;  // CUPTI's "no stream"

}  // namespace

KinetoBuilder::KinetoBuilder(Trace& trace) : trace_(trace) {
  trace_.add_process({});  // the process that drives the devices; named by its first host event
  trace_.health.clock_source = "kineto";
  // PyTorch's profiler writes the first line of every function, or the line at which it was itself
  // started, whatever line runs.
  trace_.health.stacks_name_functions = true;
}

bool KinetoBuilder::event(const RawEvent& raw, uint64_t max_events) {
  ++seen_;
  switch (raw.phase) {
    case 'X':
      complete(raw);
      break;
    case 'M':
      metadata(raw);
      break;
    case 's':
    case 't':
    case 'f':
      flow(raw);
      break;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
      instant(raw);
      break;
    case 'C':
      counter(raw);
      break;
    case 'B':
      begin(raw);
      break;
    case 'E':
      end(raw);
      break;
    case 'b':
    case 'S':
      ++repairs_[kAsync];
      break;
    case 'e':
    case 'F':
    case 'T':
    case 'p':
      break;  // counted where it began
    default:
      // A duration without a phase can only be a complete event.
      if (raw.phase == '\0' && !raw.duration.empty()) {
        complete(raw);
      } else if (raw.phase != '\0' || !raw.name.empty() || !raw.timestamp.empty()) {
        // (XLA ends its list with an empty object.)
        ++repairs_["event of unknown phase skipped"];
      }
  }
  return trace_.size() + deferred_.size() <= max_events;
}

int64_t KinetoBuilder::number_of(std::string_view text, bool is_text) {
  if (std::optional<int64_t> number = parse_integer(text)) return *number;
  if (!is_text || text.empty()) return 0;
  // "stream 7", "thread 4130 (python)": the number is meant.
  if (text.starts_with("stream ") || text.starts_with("thread ")) {
    const std::string_view rest = text.substr(7);
    if (std::optional<int64_t> number = parse_integer(rest.substr(0, rest.find(' '))))
      return *number;
  }
  // Negative numbers no system uses, one per text.
  const auto next = -1000 - static_cast<int64_t>(text_numbers_.size());
  const auto [it, added] = text_numbers_.try_emplace(std::string(text), next);
  return it->second;
}

KinetoBuilder::Lane KinetoBuilder::lane_of(const RawEvent& raw) {
  // Events of a thread stand together.
  LastLane& last = last_lane_;
  if (last.process != raw.process || last.thread != raw.thread ||
      last.process_is_text != raw.process_is_text || last.thread_is_text != raw.thread_is_text)
    last = {
        std::string(raw.process),
        std::string(raw.thread),
        raw.process_is_text,
        raw.thread_is_text,
        {number_of(raw.process, raw.process_is_text), number_of(raw.thread, raw.thread_is_text)}};
  return last.lane;
}

StringId KinetoBuilder::name_of(std::string_view name) {
  if (name.size() < 8) return trace_.strings.intern(name);
  uint64_t head = 0, tail = 0;
  std::memcpy(&head, name.data(), 8);
  std::memcpy(&tail, name.data() + name.size() - 8, 8);
  const uint64_t hash = (head * 31 + tail * 7 + name.size()) * 0x9e3779b97f4a7c15ULL;
  StringId& known = names_[hash >> 52];
  if (known == 0 || trace_.strings.text(known) != name) known = trace_.strings.intern(name);
  return known;
}

std::optional<ExactTime> KinetoBuilder::timestamp(const RawEvent& raw) {
  std::optional<ExactTime> time = parse_microseconds(raw.timestamp);
  // Room for the time base and for a duration.
  if (time && (time->ns > INT64_MAX / 4 || time->ns < INT64_MIN / 4)) time.reset();
  if (!time) ++repairs_[kNoTime];
  return time;
}

Role KinetoBuilder::cached_role(std::string_view category) {
  if (category.empty()) return Role::unknown;
  const size_t slot = (category.size() * 7 + static_cast<unsigned char>(category.front()) +
                       static_cast<unsigned char>(category.back()) * 3U) %
                      roles_.size();
  RoleSlot& known = roles_[slot];
  if (known.category == category) return known.role;
  known = {std::string(category), role_of(category)};
  constexpr size_t kNamed = 4;
  if (known.role != Role::unknown || category == "Op")
    knows_category_ = true;
  else if (foreign_categories_.size() < kNamed)
    foreign_categories_.emplace(category);
  return known.role;
}

uint32_t KinetoBuilder::correlation_of(const RawEvent& raw) {
  return correlations_.fold(raw.integer(Arg::correlation, repairs_).value_or(0), repairs_);
}

uint32_t KinetoBuilder::host_process(int64_t pid) {
  // Overhead (-1) and Python functions without a thread (0) belong to the process itself.
  if (pid == 0 || pid == -1) return 0;
  if (!primary_named_) {
    primary_named_ = true;
    trace_.processes[0].pid = pid;
    host_processes_[pid] = 0;
    return 0;
  }
  const auto found = host_processes_.find(pid);
  if (found != host_processes_.end()) return found->second;
  Process process;
  process.pid = pid;
  return host_processes_[pid] = trace_.add_process(std::move(process));
}

TrackId KinetoBuilder::host_track(const Lane& lane) {
  TrackSlot& slot = track_slots_[LaneHash{}(lane) % track_slots_.size()];
  if (slot.used && !slot.device && slot.lane == lane) return slot.track;
  const TrackId track =
      trace_.track(host_process(lane.process), TrackKind::thread, -1, lane.thread);
  slot = {lane, track, false, true};
  return track;
}

TrackId KinetoBuilder::device_track(const RawEvent& raw, const Lane& lane) {
  Lane device{raw.integer(Arg::device, repairs_).value_or(lane.process),
              raw.integer(Arg::stream, repairs_).value_or(lane.thread)};
  if (device.thread == kInvalidStream) device.thread = -1;
  TrackSlot& slot = track_slots_[(LaneHash{}(device) + 1) % track_slots_.size()];
  if (slot.used && slot.device && slot.lane == device) return slot.track;
  const TrackId track =
      trace_.track(0, TrackKind::stream, static_cast<int32_t>(device.process), device.thread);
  slot = {device, track, true, true};
  return track;
}

bool KinetoBuilder::complete(const RawEvent& raw) {
  Role role = cached_role(raw.category);
  if (role == Role::mtia_queue) role = role_in_queue(raw.name);
  if (role == Role::ignored) return true;
  const std::optional<ExactTime> start = timestamp(raw);
  if (!start) return false;
  std::optional<ExactTime> duration = parse_microseconds(raw.duration);
  if (!duration) ++repairs_[kNoDuration];
  std::optional<ExactTime> end = stallscope::add(*start, duration.value_or(ExactTime{}));
  if (!end || end->ns > INT64_MAX / 2) end = *start;
  Event event;
  event.start = round_to_ns(*start);
  event.duration = round_to_ns(*end) - event.start;
  if (event.duration < 0) {
    ++repairs_[kNegative];
    event.duration = 0;
  }
  event.name = name_of(raw.name);
  add(event, lane_of(raw), role, raw);
  return true;
}

void KinetoBuilder::add(Event event, const Lane& lane, Role role, const RawEvent& raw) {
  last_time_ = std::max(last_time_, event.start + event.duration);
  event.correlation = correlation_of(raw);
  // TensorFlow 1 calls everything "Op".
  const bool undecided = role == Role::unknown && (raw.category.empty() || raw.category == "Op");
  event.kind = EventKind::range;
  switch (role) {
    case Role::kernel:
    case Role::memcpy:
    case Role::memset:
      event.kind = role == Role::kernel   ? EventKind::kernel
                   : role == Role::memcpy ? EventKind::memcpy
                                          : EventKind::memset;
      event.track = device_track(raw, lane);
      break;
    case Role::sync:
    case Role::event_record:
      event.kind = role == Role::sync ? EventKind::sync : EventKind::event_record;
      event.track = device_track(raw, lane);
      break;
    case Role::device_annotation:
      event.track = device_track(raw, lane);
      break;
    case Role::runtime: {
      event.kind = EventKind::api;
      if (event.name >= api_calls_.size()) api_calls_.resize(event.name + 64, 0);
      uint8_t& call = api_calls_[event.name];
      if (call == 0) call = 1 + static_cast<uint8_t>(classify_api(raw.name));
      event.detail = call - 1;
      event.track = host_track(lane);
      break;
    }
    case Role::op:
      event.detail = static_cast<uint8_t>(RangeKind::op);
      event.track = host_track(lane);
      break;
    case Role::python:
      event.detail = static_cast<uint8_t>(RangeKind::python);
      event.track = host_track(lane);
      break;
    case Role::overhead:
      event.kind = EventKind::overhead;
      event.track = host_track(lane);
      break;
    default:
      event.track = undecided ? 0 : host_track(lane);
  }
  event.payload = payload_of(raw, role, event);
  const bool joins = is_device_work(event.kind) || event.kind == EventKind::api;
  if (is_device_work(event.kind) && event.correlation != 0 && flows_needed_) {
    flows_needed_ = false;  // calls and device work name each other: flows say nothing new
    flows_.clear();
    flows_.shrink_to_fit();
  }
  if (undecided || (joins && event.correlation == 0 && flows_needed_)) {
    Deferred item{event, lane, role, 0, 0};
    item.op = trace_.strings.intern(raw.text(Arg::tf_op).empty() ? raw.text(Arg::hlo_op)
                                                                 : raw.text(Arg::tf_op));
    item.source = trace_.strings.intern(raw.text(Arg::source));
    deferred_.push_back(item);
  } else {
    trace_.add(event);
  }
}

void KinetoBuilder::metadata(const RawEvent& raw) {
  const Lane lane = lane_of(raw);
  if (raw.name == "process_name") {
    process_names_[lane.process] = raw.text(Arg::name);
  } else if (raw.name == "thread_name") {
    thread_names_[lane] = raw.text(Arg::name);
  }
}

void KinetoBuilder::instant(const RawEvent& raw) {
  const std::optional<ExactTime> time = timestamp(raw);
  if (!time || raw.name.starts_with("Iteration Start") || raw.name == "Record Window End") return;
  Event event;
  event.start = round_to_ns(*time);
  event.name = trace_.strings.intern(raw.name);
  event.track = host_track(lane_of(raw));
  event.kind = EventKind::marker;
  if (raw.name == "[memory]") {
    const int64_t bytes = raw.integer(Arg::bytes, repairs_).value_or(0);
    // Device type 0 is the host.
    const bool on_host = raw.integer(Arg::device_type, repairs_).value_or(1) == 0;
    const int64_t device = raw.integer(Arg::device_id, repairs_).value_or(-1);
    event.kind = EventKind::alloc;
    event.detail = static_cast<uint8_t>(bytes < 0 ? AllocKind::release : AllocKind::allocate);
    fields_.assign({Field::of_integer(kKeyBytes, bytes < 0 ? -(bytes + 1) + 1 : bytes),
                    Field::of_integer(kKeyDevice, on_host ? -1 : device)});
    integer_field(raw, Arg::address, kKeyAddress);
    integer_field(raw, Arg::total_allocated, kKeyTotalBytes);
    event.payload = trace_.add_payload(fields_);
  }
  last_time_ = std::max(last_time_, event.start);
  trace_.add(event);
}

void KinetoBuilder::counter(const RawEvent& raw) {
  const std::optional<ExactTime> time = timestamp(raw);
  if (!time) return;
  Event event;
  event.kind = EventKind::counter;
  event.start = round_to_ns(*time);
  event.name = trace_.strings.intern(raw.name);
  event.track = host_track(lane_of(raw));
  fields_.clear();
  integer_field(raw, Arg::value, kKeyValue);
  event.payload = trace_.add_payload(fields_);
  trace_.add(event);
}

void KinetoBuilder::flow(const RawEvent& raw) {
  if (!flows_needed_ || cached_role(raw.category) != Role::launch_flow) return;
  const std::optional<int64_t> id = parse_integer(raw.id);
  const std::optional<ExactTime> time = parse_microseconds(raw.timestamp);
  if (!id || !time) return;
  flows_.push_back(
      {lane_of(raw), round_to_ns(*time), correlations_.fold(*id, repairs_), raw.phase == 's'});
}

void KinetoBuilder::begin(const RawEvent& raw) {
  const std::optional<ExactTime> start = timestamp(raw);
  if (!start) return;
  const Lane lane = lane_of(raw);
  // What the begin says is kept as if it were complete; its end only adds the length.
  Event event;
  event.start = round_to_ns(*start);
  event.name = trace_.strings.intern(raw.name);
  event.track = host_track(lane);
  event.detail =
      static_cast<uint8_t>(cached_role(raw.category) == Role::op       ? RangeKind::op
                           : cached_role(raw.category) == Role::python ? RangeKind::python
                                                                       : RangeKind::annotation);
  event.kind = EventKind::range;
  event.payload = payload_of(raw, Role::unknown, event);
  open_[lane].push_back({event, *start});
}

void KinetoBuilder::end(const RawEvent& raw) {
  const std::optional<ExactTime> time = timestamp(raw);
  if (!time) return;
  std::vector<OpenRange>& open = open_[lane_of(raw)];
  if (open.empty()) {
    ++repairs_[kUnmatchedEnd];
    return;
  }
  Event event = open.back().event;
  open.pop_back();
  event.duration = round_to_ns(*time) - event.start;
  if (event.duration < 0) {
    ++repairs_[kNegative];
    event.duration = 0;
  }
  last_time_ = std::max(last_time_, event.start + event.duration);
  trace_.add(event);
}

}  // namespace stallscope
