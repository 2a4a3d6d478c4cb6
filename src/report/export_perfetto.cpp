// Perfetto protobuf: field numbers as in perfetto's published trace.proto.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "report/exporter.h"
#include "report/present.h"
#include "report/protobuf.h"
#include "report/text_safety.h"
#include "report/track_lanes.h"

namespace stallscope {
namespace {

// Trace, TracePacket
constexpr uint32_t kPacket = 1, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
                   kSequenceFlags = 13, kClockSnapshot = 6, kDefaults = 59, kTrackDescriptor = 60;
constexpr uint64_t kStateCleared = 1, kNeedsState = 2, kMonotonicClock = 3;
// TrackDescriptor
constexpr uint32_t kUuid = 1, kTrackName = 2, kProcessPart = 3, kThreadPart = 4, kParent = 5,
                   kCounterPart = 8;
// TrackEvent
constexpr uint32_t kAnnotations = 4, kType = 9, kNameId = 10, kTrack = 11, kCategories = 22,
                   kNameText = 23, kCounterValue = 30, kFlows = 47, kEndingFlows = 48;
constexpr uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;

class PerfettoTarget : public ExportTarget {
 public:
  explicit PerfettoTarget(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  Status add(const Trace& trace) override {
    ++sequence_;
    names_seen_.clear();
    write_clock(trace);
    begin_sequence();
    for (uint32_t i = 0; i < trace.processes.size(); ++i) write_process(trace, i);
    const std::unordered_set<uint64_t> launched = launched_work(trace);
    for (TrackId track = 0; track < trace.tracks.size(); ++track)
      write_track(trace, track, launched);
    write_queue_depth(trace);
    return ok_status();
  }

  Status finish(const Report* report) override {
    if (report != nullptr) write_findings(*report);
    return file_->close();
  }

 private:
  uint64_t process_uuid(uint32_t process) const {
    return uint64_t{sequence_} << 40 | uint64_t{process} << 24 | 1;
  }
  uint64_t track_uuid(TrackId track, unsigned lane) const {
    return uint64_t{sequence_} << 40 | 1ULL << 39 | uint64_t{track} << 8 | std::min(lane, 254U);
  }
  uint64_t counter_uuid(TrackId track) const { return track_uuid(track, 255); }
  /// Names the pair of a call and its work: correlations are unique within a process only.
  uint64_t flow_id(uint32_t process, uint32_t correlation) const {
    return uint64_t{sequence_} << 48 | uint64_t{process & 0xFFFF} << 32 | correlation;
  }

  void packet(ProtoMessage& body, uint64_t flags = kNeedsState) {
    body.varint(kSequence, sequence_);
    body.varint(kSequenceFlags, flags);
    ProtoMessage outer;
    outer.message(kPacket, body);
    file_->append(outer.bytes());
  }

  /// Perfetto converts clocks through snapshots; this one says that the trace is in MONOTONIC.
  void write_clock(const Trace& trace) {
    if (sequence_ > 1) return;
    Ns first = trace.size() == 0 ? 0 : INT64_MAX;
    for (const Ns start : trace.starts()) first = std::min(first, start);
    ProtoMessage clock, snapshot, body;
    clock.varint(1, kMonotonicClock);
    clock.varint(2, static_cast<uint64_t>(std::max<Ns>(first, 0)));
    snapshot.message(1, clock);
    snapshot.varint(2, kMonotonicClock);
    body.message(kClockSnapshot, snapshot);
    packet(body, 0);
  }

  void begin_sequence() {
    ProtoMessage defaults, body;
    defaults.varint(58, kMonotonicClock);
    body.message(kDefaults, defaults);
    packet(body, kStateCleared | kNeedsState);
  }

  /// Perfetto joins processes of equal pid, also of different hosts: later ones are moved apart.
  int64_t unique_pid(int64_t pid) {
    constexpr int64_t kApart = 10'000'000;  // beyond Linux' largest pid (2^22)
    while (!pids_.insert(pid).second) pid += kApart;
    return pid;
  }

  void write_process(const Trace& trace, uint32_t index) {
    const Process& process = trace.processes[index];
    std::string name = process.name.empty() ? "process" : valid_utf8(process.name);
    if (process.rank >= 0) name = fmt::format("rank {}: {}", process.rank, name);
    pid_of_process_.resize(std::max<size_t>(pid_of_process_.size(), index + 1));
    pid_of_process_[index] = unique_pid(process.pid);
    ProtoMessage part, descriptor, body;
    part.varint(1, static_cast<uint64_t>(pid_of_process_[index]));
    part.text(6, name);
    descriptor.varint(kUuid, process_uuid(index));
    descriptor.message(kProcessPart, part);
    body.message(kTrackDescriptor, descriptor);
    packet(body);
    uuid_of_rank_.try_emplace(process.rank, process_uuid(index), sequence_);
  }

  std::string track_name(const Trace& trace, TrackId id) const {
    const Track& track = trace.tracks[id];
    if (track.kind == TrackKind::stream)
      return fmt::format("device {} stream {}", track.device, track.id);
    const std::string_view name = trace.text(track.name);
    return name.empty() ? fmt::format("thread {}", track.id) : valid_utf8(name);
  }

  void describe_track(const Trace& trace, TrackId id, unsigned lane) {
    const Track& track = trace.tracks[id];
    ProtoMessage descriptor, body;
    descriptor.varint(kUuid, track_uuid(id, lane));
    const bool thread = track.kind == TrackKind::thread && lane == 0;
    if (thread) {
      ProtoMessage part;
      part.varint(1, static_cast<uint64_t>(pid_of_process_[track.process]));
      part.varint(2, static_cast<uint64_t>(track.id));
      part.text(5, track_name(trace, id));
      descriptor.message(kThreadPart, part);
    } else {
      descriptor.text(kTrackName, track_name(trace, id));
    }
    descriptor.varint(kParent, track.kind == TrackKind::thread && lane > 0
                                   ? track_uuid(id, 0)
                                   : process_uuid(track.process));
    body.message(kTrackDescriptor, descriptor);
    packet(body);
  }

  /// Correlations, per process, that have device work: only these get a flow.
  std::unordered_set<uint64_t> launched_work(const Trace& trace) const {
    std::unordered_set<uint64_t> flows;
    for (EventId id = 0; id < trace.size(); ++id) {
      const Track& track = trace.tracks[trace.tracks_of_events()[id]];
      if (track.kind == TrackKind::stream && trace.correlations()[id] != 0)
        flows.insert(flow_id(track.process, trace.correlations()[id]));
    }
    return flows;
  }

  void write_track(const Trace& trace, TrackId id, const std::unordered_set<uint64_t>& launched) {
    const auto [first, last] = trace.rows(id);
    if (first == last) return;
    unsigned described = 0;
    describe_track(trace, id, described++);
    for (const SliceMark& mark : slice_marks(trace, id)) {
      while (described <= mark.lane) describe_track(trace, id, described++);
      if (mark.begin)
        write_event(trace, mark.event, kBegin, track_uuid(id, mark.lane), launched);
      else
        write_end(trace.end(mark.event), track_uuid(id, mark.lane));
    }
    for (EventId event = first; event < last; ++event)
      if (!is_slice(trace.kinds()[event]))
        write_event(trace, event, kInstant, track_uuid(id, 0), launched);
  }

  void write_end(Ns at, uint64_t track) {
    ProtoMessage event, body;
    event.varint(kType, kEnd);
    event.varint(kTrack, track);
    body.varint(kTimestamp, static_cast<uint64_t>(at));
    body.message(kTrackEvent, event);
    packet(body);
  }

  void write_event(const Trace& trace, EventId id, uint64_t type, uint64_t track,
                   const std::unordered_set<uint64_t>& launched) {
    const Track& where = trace.tracks[trace.tracks_of_events()[id]];
    ProtoMessage event, body;
    event.varint(kType, type);
    event.varint(kTrack, track);
    event.text(kCategories, to_string(trace.kinds()[id]));
    const StringId name = trace.names()[id];
    if (names_seen_.insert(name).second) {
      ProtoMessage entry, interned;
      entry.varint(1, uint64_t{name} + 1);
      entry.text(2, valid_utf8(trace.text(name)));
      interned.message(2, entry);
      body.message(kInterned, interned);
    }
    event.varint(kNameId, uint64_t{name} + 1);
    if (const uint32_t correlation = trace.correlations()[id]; correlation != 0) {
      const uint64_t flow = flow_id(where.process, correlation);
      if (launched.contains(flow))
        event.fixed64(where.kind == TrackKind::stream ? kEndingFlows : kFlows, flow);
      annotate(event, "correlation", [&](ProtoMessage& a) { a.varint(3, correlation); });
    }
    for (const Field& field : trace.payload(trace.payloads()[id])) {
      const std::string_view key =
          field.key < kKeyCount_ ? key_name(field.key) : trace.text(field.key);
      annotate(event, key, [&](ProtoMessage& a) {
        if (field.type == Field::Type::integer)
          a.varint(4, static_cast<uint64_t>(field.integer));
        else if (field.type == Field::Type::real)
          a.real(5, field.real);
        else
          a.text(6, valid_utf8(trace.text(field.text)));
      });
    }
    if (const StackId stack = trace.stacks()[id]; stack != 0)
      annotate(event, "stack", [&](ProtoMessage& a) { a.text(6, stack_text(trace, stack)); });
    body.varint(kTimestamp, static_cast<uint64_t>(trace.starts()[id]));
    body.message(kTrackEvent, event);
    packet(body);
  }

  template <typename Fill>
  static void annotate(ProtoMessage& event, std::string_view key, Fill fill) {
    ProtoMessage annotation;
    annotation.text(10, valid_utf8(key));
    fill(annotation);
    event.message(kAnnotations, annotation);
  }

  static std::string stack_text(const Trace& trace, StackId stack) {
    constexpr size_t kFrames = 12;
    std::string out;
    size_t shown = 0;
    for (const FrameId id : trace.stack(stack)) {
      if (++shown > kFrames) break;
      const Frame& frame = trace.frame(id);
      out += fmt::format("{}{} {}:{}", out.empty() ? "" : " < ", trace.text(frame.function),
                         trace.text(frame.file), frame.line);
    }
    return valid_utf8(out);
  }

  /// Per stream: work launched and not yet finished.
  void write_queue_depth(const Trace& trace) {
    std::map<uint64_t, Ns> launch_at;
    for (EventId id = 0; id < trace.size(); ++id) {
      const Track& track = trace.tracks[trace.tracks_of_events()[id]];
      if (track.kind == TrackKind::thread && trace.correlations()[id] != 0 &&
          trace.kinds()[id] == EventKind::api)
        launch_at.try_emplace(flow_id(track.process, trace.correlations()[id]), trace.starts()[id]);
    }
    for (TrackId id = 0; id < trace.tracks.size(); ++id) {
      const Track& track = trace.tracks[id];
      if (track.kind != TrackKind::stream) continue;
      std::vector<std::pair<Ns, int>> changes;
      const auto [first, last] = trace.rows(id);
      for (EventId event = first; event < last; ++event) {
        const auto launch = launch_at.find(flow_id(track.process, trace.correlations()[event]));
        if (!is_device_work(trace.kinds()[event]) || launch == launch_at.end()) continue;
        changes.emplace_back(launch->second, 1);
        changes.emplace_back(trace.end(event), -1);
      }
      if (changes.empty()) continue;
      ProtoMessage part, descriptor, body;
      descriptor.varint(kUuid, counter_uuid(id));
      descriptor.text(kTrackName, fmt::format("queue depth of {}", track_name(trace, id)));
      descriptor.varint(kParent, process_uuid(track.process));
      part.text(6, "kernels");
      descriptor.message(kCounterPart, part);
      body.message(kTrackDescriptor, descriptor);
      packet(body);
      std::ranges::sort(changes);
      int64_t depth = 0;
      for (size_t i = 0; i < changes.size(); ++i) {
        depth += changes[i].second;
        if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
        ProtoMessage event, point;
        event.varint(kType, kCounter);
        event.varint(kTrack, counter_uuid(id));
        event.varint(kCounterValue, static_cast<uint64_t>(depth));
        point.varint(kTimestamp, static_cast<uint64_t>(changes[i].first));
        point.message(kTrackEvent, event);
        packet(point);
      }
    }
  }

  void write_findings(const Report& report) {
    std::set<uint64_t> described;
    for (const FindingInstant& instant : finding_instants(report)) {
      const auto process = uuid_of_rank_.find(instant.rank);
      if (process == uuid_of_rank_.end()) continue;
      const uint64_t uuid = process->second.first | 1ULL << 38;
      if (described.insert(uuid).second) {
        ProtoMessage descriptor, body;
        descriptor.varint(kUuid, uuid);
        descriptor.text(kTrackName, "findings");
        descriptor.varint(kParent, process->second.first);
        body.message(kTrackDescriptor, descriptor);
        packet(body);
      }
      const Finding& finding = *instant.finding;
      ProtoMessage event, body;
      event.varint(kType, kInstant);
      event.varint(kTrack, uuid);
      event.text(kCategories, "finding");
      event.text(kNameText, valid_utf8(finding.title));
      annotate(event, "rule", [&](ProtoMessage& a) { a.text(6, valid_utf8(finding.rule_id)); });
      annotate(event, "where",
               [&](ProtoMessage& a) { a.text(6, valid_utf8(place_text(primary_place(finding)))); });
      annotate(event, "gain", [&](ProtoMessage& a) { a.text(6, gain_text(finding)); });
      body.varint(kTimestamp, static_cast<uint64_t>(instant.at));
      body.message(kTrackEvent, event);
      packet(body);
    }
  }

  std::unique_ptr<OutputFile> file_;
  uint32_t sequence_ = 0;  // one per trace: each has its own interned names
  std::unordered_set<StringId> names_seen_;
  std::set<int64_t> pids_;
  std::vector<int64_t> pid_of_process_;
  std::map<int32_t, std::pair<uint64_t, uint32_t>> uuid_of_rank_;
};

const RegisterExporter perfetto_registration({
    .name = "perfetto",
    .file_name = "trace.perfetto-trace",
    .description = "Perfetto protobuf, for ui.perfetto.dev",
    .many_traces = true,
    .open = [](const std::string& path) -> Result<std::unique_ptr<ExportTarget>> {
      auto file = OutputFile::create(path);
      if (!file) return file.error();
      return std::unique_ptr<ExportTarget>(new PerfettoTarget(std::move(*file)));
    },
});

}  // namespace
}  // namespace stallscope
