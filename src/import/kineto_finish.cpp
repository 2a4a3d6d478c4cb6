// What a Chrome trace tells only once all of it has been read: ranges left
// open, calls joined by flows, tracks named by metadata, the time base.
#include <algorithm>
#include <charconv>

#include "import/event_parser.h"
#include "import/kineto_builder.h"
#include "import/nesting.h"

namespace stallscope {
namespace {

constexpr char kUnmatchedBegin[] = "begin without an end closed at the last time seen";
constexpr char kDuplicate[] =
    "correlation id used by several calls: the nearest earlier call is taken";
constexpr size_t kMaxWarnings = 8;
constexpr uint32_t kMaxCounted = 1U << 28;  // ids above are rare; a bit each below costs 32 MB
// Lines of an XLA device that are no streams get track ids above every stream's.
constexpr int64_t kDerivedLine = 1'000'000;

std::string unquoted(std::string_view json) {
  if (json.size() >= 2 && json.front() == '"') json = json.substr(1, json.size() - 2);
  return std::string(json);
}

// The number after the last colon of "/device:GPU:0 NVIDIA H100".
int32_t device_number(std::string_view process_name) {
  std::string_view word = process_name.substr(0, process_name.find(' '));
  if (word.starts_with("/device:")) word = word.substr(0, word.find('/', 1));
  const size_t colon = word.rfind(':');
  int32_t number = 0;
  if (colon != std::string_view::npos)
    std::from_chars(word.data() + colon + 1, word.data() + word.size(), number);
  return number;
}

// "/device:GPU:0 NVIDIA H100", "/device:TPU:1"; TensorFlow 1 adds "/stream:14 Compute" and gives
// the enqueueing on the host as "/job:.../device:GPU:0 Compute".
bool is_xla_device(std::string_view process_name) {
  return process_name.starts_with("/device:") && !process_name.starts_with("/device:CUSTOM") &&
         !process_name.starts_with("/device:CPU");
}

constexpr std::string_view kStreamOfProcess = "/stream:";

// The N of "/device:GPU:0/stream:N Compute".
std::optional<int64_t> stream_of_process(std::string_view process_name) {
  const size_t at = process_name.find(kStreamOfProcess);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view word = process_name.substr(at + kStreamOfProcess.size());
  return parse_integer(word.substr(0, word.find(' ')));
}

// Lines of a device that show its work again, by module, operator or step.
bool is_derived_line(std::string_view line) {
  for (std::string_view part :
       {"Modules", "Ops", "Name Scope", "Steps", "Source", "Launch Stats", "Framework", "Traceme"})
    if (line.find(part) != std::string_view::npos) return true;
  return false;
}

// cuLaunchKernel, cudaMemcpyAsync, hipLaunchKernel: a prefix and a capital letter.
bool is_runtime_name(std::string_view name) {
  for (std::string_view prefix : {"cuda", "cu", "hip"}) {
    if (!name.starts_with(prefix) || name.size() <= prefix.size()) continue;
    const char next = name[prefix.size()];
    if (next >= 'A' && next <= 'Z') return true;
  }
  return false;
}

}  // namespace

void KinetoBuilder::member(std::string_view key, std::string_view json) {
  std::map<std::string, std::string>& environment = trace_.environment;
  if (key == "baseTimeNanoseconds") {
    const std::optional<int64_t> base = parse_integer(unquoted(json));
    if (base && *base < INT64_MAX / 4 && *base > INT64_MIN / 4) base_ = *base;
  } else if (key == "distributedInfo") {
    for_each_member(json, [&](std::string_view name, std::string_view value) {
      Process& process = trace_.processes[0];
      const auto number = parse_integer(value);
      const bool small = number && *number >= 0 && *number < INT32_MAX;
      if (name == "rank" && small) process.rank = static_cast<int32_t>(*number);
      if (name == "world_size" && small) process.world_size = static_cast<int32_t>(*number);
      if (name == "pg_config") describe_groups(value);
      if (name == "backend") environment["distributed.backend"] = value;
      if (name == "nccl_version") environment["nccl.version"] = value;
    });
  } else if (key == "deviceProperties") {
    size_t devices = 0;
    for (size_t at = json.find('{'); at != std::string_view::npos; at = json.find('{', at)) {
      const size_t extent = json_extent(json.substr(at));
      if (extent == std::string_view::npos) break;
      for_each_member(json.substr(at, extent), [&](std::string_view name, std::string_view value) {
        if (name == "name") environment["gpu.name"] = value;
      });
      ++devices;
      at += extent;
    }
    environment["gpu.count"] = std::to_string(devices);
  } else if (key == "cuda_driver_version") {
    environment["driver.version"] = unquoted(json);
  } else if (key == "cuda_runtime_version") {
    environment["cuda.runtime"] = unquoted(json);
  } else if (key == "cupti_version") {
    environment["cupti.version"] = unquoted(json);
  } else if (key == "WARNING" || key == "ERROR") {
    // What the profiler itself said about lost records belongs in the trust section.
    if (json.find("drop") != std::string_view::npos || json.find("lost") != std::string_view::npos)
      if (trace_.health.warnings.size() < kMaxWarnings)
        trace_.health.warnings.push_back("The profiler warned: " +
                                         std::string(json.substr(0, 400)));
  }
}

void KinetoBuilder::close_open_ranges() {
  for (auto& [lane, ranges] : open_) {
    for (OpenRange& range : ranges) {
      ++repairs_[kUnmatchedBegin];
      range.event.duration = std::max(last_time_, range.event.start) - range.event.start;
      trace_.add(range.event);
    }
  }
  open_.clear();
}

void KinetoBuilder::resolve_flows() {
  if (flows_.empty()) return;
  struct Point {
    Lane lane;
    Ns time;
    bool operator==(const Point&) const = default;
  };
  struct PointHash {
    size_t operator()(const Point& point) const {
      return LaneHash{}(point.lane) ^ static_cast<size_t>(point.time) * 0x9e3779b97f4a7c15ULL;
    }
  };
  std::unordered_map<Point, uint32_t, PointHash> starts, ends;
  for (const Flow& flow : flows_)
    (flow.is_start ? starts : ends).try_emplace({flow.lane, flow.time}, flow.correlation);
  for (Deferred& item : deferred_) {
    if (item.event.correlation != 0) continue;
    const auto& side = item.event.kind == EventKind::api ? starts : ends;
    const auto found = side.find({item.lane, item.event.start});
    if (found != side.end()) item.event.correlation = found->second;
  }
  flows_.clear();
}

std::optional<int64_t> KinetoBuilder::xla_stream(const Lane& lane, const std::string& process_name,
                                                 const XlaLines& lines) const {
  const auto named = thread_names_.find(lane);
  const std::string_view line = named == thread_names_.end() ? std::string_view() : named->second;
  if (line.starts_with("Stream #")) {
    int64_t stream = lane.thread;
    std::from_chars(line.data() + 8, line.data() + line.size(), stream);
    return stream;
  }
  if (const auto stream = stream_of_process(process_name)) return stream;
  if (lines.streams) return std::nullopt;
  const bool is_work = lines.ops ? line == "XLA Ops" : !is_derived_line(line);
  return is_work ? std::optional(lane.thread) : std::nullopt;
}

void KinetoBuilder::resolve_xla_device(Deferred& item, const std::string& process_name,
                                       const XlaLines& lines) {
  const int32_t device = device_number(process_name);
  Event& event = item.event;
  if (const std::optional<int64_t> stream = xla_stream(item.lane, process_name, lines)) {
    const std::string_view name = trace_.text(event.name);
    const CopyName copy = parse_copy_name(name);
    const bool is_copy = name.starts_with("Memcpy") || name.starts_with("memcpy");
    event.kind = is_copy                      ? EventKind::memcpy
                 : name.starts_with("Memset") ? EventKind::memset
                                              : EventKind::kernel;
    if (is_copy) event.detail = static_cast<uint8_t>(copy.kind);
    event.track = trace_.track(0, TrackKind::stream, device, *stream);
    FrameId frames[2];
    size_t depth = 0;
    if (item.op != 0)
      frames[depth++] = trace_.add_frame({.function = item.op, .kind = FrameKind::op});
    const std::string_view source = trace_.text(item.source);
    const size_t colon = source.rfind(':');
    if (colon != std::string_view::npos) {
      uint32_t number = 0;
      std::from_chars(source.data() + colon + 1, source.data() + source.size(), number);
      frames[depth++] = trace_.add_frame({.file = trace_.strings.intern(source.substr(0, colon)),
                                          .line = number,
                                          .kind = FrameKind::python});
    }
    event.stack = trace_.add_stack({frames, depth});
  } else {
    event.kind = EventKind::range;
    event.track = trace_.track(0, TrackKind::stream, device, kDerivedLine + item.lane.thread);
  }
}

void KinetoBuilder::resolve_host(Deferred& item) {
  Event& event = item.event;
  const std::string_view name = trace_.text(event.name);
  event.track = host_track(item.lane);
  if (is_runtime_name(name)) {
    event.kind = EventKind::api;
    event.detail = static_cast<uint8_t>(classify_api(name));
  } else {
    event.kind = EventKind::range;
    const bool python = name.starts_with('$');
    event.detail = static_cast<uint8_t>(python ? RangeKind::python : RangeKind::annotation);
  }
}

void KinetoBuilder::resolve_deferred() {
  std::map<int32_t, XlaLines> devices;
  for (const auto& [lane, name] : thread_names_) {
    const auto process = process_names_.find(lane.process);
    if (process == process_names_.end() || !is_xla_device(process->second)) continue;
    XlaLines& lines = devices[device_number(process->second)];
    lines.streams = lines.streams || name.starts_with("Stream #");
    lines.ops = lines.ops || name == "XLA Ops";
  }
  for (const auto& [id, name] : process_names_)
    if (is_xla_device(name) && stream_of_process(name)) devices[device_number(name)].streams = true;
  for (Deferred& item : deferred_) {
    if (item.role == Role::unknown) {
      const auto process = process_names_.find(item.lane.process);
      if (process != process_names_.end() && is_xla_device(process->second)) {
        resolve_xla_device(item, process->second, devices[device_number(process->second)]);
      } else {
        resolve_host(item);
      }
    }
    trace_.add(item.event);
  }
  deferred_.clear();
  deferred_.shrink_to_fit();
}

// A file merged of several processes: a device belongs to the process whose
// calls its work answers.
void KinetoBuilder::assign_devices_to_processes() {
  if (trace_.processes.size() < 2) return;
  constexpr uint32_t kAmbiguous = UINT32_MAX;
  std::unordered_map<uint32_t, uint32_t> caller;
  const auto process_of = [&](EventId id) {
    return trace_.tracks[trace_.tracks_of_events()[id]].process;
  };
  for (EventId id = 0; id < trace_.size(); ++id) {
    if (trace_.kinds()[id] != EventKind::api || trace_.correlations()[id] == 0) continue;
    const auto [it, added] = caller.try_emplace(trace_.correlations()[id], process_of(id));
    if (!added && it->second != process_of(id)) it->second = kAmbiguous;
  }
  std::map<int32_t, std::map<uint32_t, uint64_t>> votes;
  for (EventId id = 0; id < trace_.size(); ++id) {
    if (!is_device_work(trace_.kinds()[id])) continue;
    const auto found = caller.find(trace_.correlations()[id]);
    if (found == caller.end() || found->second == kAmbiguous) continue;
    ++votes[trace_.tracks[trace_.tracks_of_events()[id]].device][found->second];
  }
  for (Track& track : trace_.tracks) {
    if (track.kind != TrackKind::stream || votes[track.device].empty()) continue;
    track.process = std::ranges::max_element(votes[track.device], {}, [](const auto& vote) {
                      return vote.second;
                    })->first;
  }
}

void KinetoBuilder::name_tracks() {
  for (Track& track : trace_.tracks) {
    const bool stream = track.kind == TrackKind::stream;
    const int64_t pid = stream ? track.device : trace_.processes[track.process].pid;
    for (const Lane& lane : {Lane{pid, track.id}, Lane{0, track.id}, Lane{-1, track.id}}) {
      const auto found = thread_names_.find(lane);
      if (found == thread_names_.end()) continue;
      track.name = trace_.strings.intern(found->second);
      break;
    }
  }
  for (Process& process : trace_.processes) {
    const auto found = process_names_.find(process.pid);
    if (found != process_names_.end()) process.name = found->second;
    for (const auto& [text, number] : text_numbers_)
      if (number == process.pid) process.name = text;
  }
}

void KinetoBuilder::count_duplicate_correlations() {
  std::vector<std::vector<bool>> used(trace_.processes.size());
  for (EventId id = 0; id < trace_.size(); ++id) {
    const uint32_t correlation = trace_.correlations()[id];
    if (trace_.kinds()[id] != EventKind::api || correlation == 0) continue;
    const auto call = static_cast<ApiCall>(trace_.details()[id]);
    if (call != ApiCall::launch && call != ApiCall::copy && call != ApiCall::memset) continue;
    std::vector<bool>& seen = used[trace_.tracks[trace_.tracks_of_events()[id]].process];
    if (correlation >= kMaxCounted) continue;
    if (correlation >= seen.size())
      seen.resize(std::max<size_t>(correlation + 1, seen.size() * 2), false);
    if (seen[correlation]) ++repairs_[kDuplicate];
    seen[correlation] = true;
  }
}

// Browsers, game engines and others write Chrome traces, too.
void KinetoBuilder::say_foreign() {
  if (knows_category_ || foreign_categories_.empty() || trace_.health.device_visible) return;
  std::string names;
  for (const std::string& category : foreign_categories_)
    names += (names.empty() ? "" : ", ") + category;
  trace_.health.warnings.push_back(
      "This may be another tool's trace: PyTorch's and XLA's profilers write none of its "
      "categories (" +
      names + "). Its ranges are read, and nothing else.");
}

void KinetoBuilder::finish(const std::string& path) {
  close_open_ranges();
  resolve_flows();
  resolve_deferred();
  if (base_ != 0) trace_.shift_times(base_);
  if (trace_.processes[0].rank < 0) trace_.processes[0].rank = rank_in_name(path);
  assign_devices_to_processes();
  name_tracks();
  name_groups_by_members();
  trace_.finish();
  // A profiler set to record the host only leaves the same file as a program without a GPU.
  trace_.health.device_visible = std::ranges::any_of(
      trace_.tracks, [](const Track& track) { return track.kind == TrackKind::stream; });
  say_foreign();
  count_duplicate_correlations();
  add_nesting_stacks(trace_);
  for (const auto& [what, count] : repairs_) trace_.health.repairs[what] += count;
}

}  // namespace stallscope
