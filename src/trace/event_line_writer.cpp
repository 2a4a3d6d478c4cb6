// Trace to event lines.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "trace/event_lines.h"

namespace stallscope {
namespace {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json value_of(const Trace& trace, const Field& field) {
  switch (field.type) {
    case Field::Type::integer:
      return field.integer;
    case Field::Type::real:
      return field.real;
    case Field::Type::text:
      return trace.text(field.text);
  }
  return nullptr;
}

Json stack_of(const Trace& trace, StackId stack) {
  static constexpr std::string_view kKinds[] = {"native", "python", "op"};
  Json frames = Json::array();
  for (FrameId id : trace.stack(stack)) {
    const Frame& frame = trace.frame(id);
    Json entry;
    entry["function"] = trace.text(frame.function);
    if (frame.file != 0) entry["file"] = trace.text(frame.file);
    if (frame.line != 0) entry["line"] = frame.line;
    if (frame.module != 0) entry["module"] = trace.text(frame.module);
    entry["kind"] = kKinds[static_cast<size_t>(frame.kind)];
    frames.push_back(std::move(entry));
  }
  return frames;
}

}  // namespace

std::string event_line(const Trace& trace, EventId id) {
  const Event event = trace.event(id);
  const Track& track = trace.tracks[event.track];
  const Process& process = trace.processes[track.process];
  Json line;
  line["kind"] = to_string(event.kind);
  line["name"] = trace.full_name(id);
  if (const auto domain = trace.text_field(id, kKeyDomain); !domain.empty())
    line["domain"] = domain;
  line["startNs"] = event.start;
  line["durationNs"] = event.duration;
  line["pid"] = process.pid;
  if (track.kind == TrackKind::thread) {
    line["tid"] = track.id;
  } else {
    line["device"] = track.device;
    line["stream"] = track.id;
  }
  if (process.rank >= 0) line["rank"] = process.rank;
  if (event.correlation != 0) line["correlation"] = event.correlation;
  if (const auto detail = detail_name(event.kind, event.detail); !detail.empty())
    line["detail"] = detail;
  Json nested;
  for (const Field& field : trace.payload(event.payload)) {
    const std::string key(trace.text(field.key));
    if (field.key == kKeyDomain && field.type == Field::Type::text) continue;
    // A field whose name this format uses for itself goes where it cannot be mistaken.
    static constexpr std::string_view kReserved[] = {
        "kind",       "name", "domain", "start",       "startNs", "startUs", "durationNs",
        "durationUs", "pid",  "rank",   "worldSize",   "detail",  "stack",   "payload",
        "onlyIn",     "tid",  "every",  "correlation", "repeat",  "end"};
    const bool reserved =
        std::ranges::find(kReserved, key) != std::end(kReserved) || line.contains(key);
    (reserved ? nested : line)[key] = value_of(trace, field);
  }
  if (!nested.is_null()) line["payload"] = std::move(nested);
  if (event.stack != 0) line["stack"] = stack_of(trace, event.stack);
  return one_line(line);
}

std::string header_lines(const Trace& trace) {
  std::string text;
  const auto append = [&text](const Json& line) { text += one_line(line) + "\n"; };
  for (const Process& process : trace.processes) {
    Json line;
    line["kind"] = "process";
    line["pid"] = process.pid;
    if (process.rank >= 0) line["rank"] = process.rank;
    if (process.local_rank >= 0) line["localRank"] = process.local_rank;
    if (process.world_size > 0) line["worldSize"] = process.world_size;
    if (!process.host.empty()) line["host"] = process.host;
    if (!process.name.empty()) line["name"] = process.name;
    append(line);
  }
  if (!trace.environment.empty()) {
    Json line;
    line["kind"] = "environment";
    for (const auto& [key, value] : trace.environment) line[key] = value;
    append(line);
  }
  const TraceHealth& health = trace.health;
  if (health.lost_records > 0 || health.discarded_oldest > 0 || health.cut_short) {
    Json line;
    line["kind"] = "health";
    if (health.lost_records > 0) line["lostRecords"] = health.lost_records;
    if (health.discarded_oldest > 0) line["discardedOldest"] = health.discarded_oldest;
    if (health.cut_short) line["cutShort"] = true;
    append(line);
  }
  for (const CaptureHole& hole : health.holes) {
    Json line;
    line["kind"] = "hole";
    line["startNs"] = hole.start;
    line["durationNs"] = hole.duration;
    line["reason"] = hole.reason;
    append(line);
  }
  return text;
}

}  // namespace stallscope
