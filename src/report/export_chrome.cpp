// Chrome trace JSON in the form that PyTorch's profiler writes, so that
// chrome://tracing, Perfetto and other tools for such traces read it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/exporter.h"
#include "report/json_parts.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

std::string json_text(std::string_view text) {
  return dump(Json(std::string(text)), -1);
}

/// Microseconds with the nanoseconds as decimals: exact, where a double would round.
std::string microseconds(Ns ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

std::string_view category(const Trace& trace, EventId id) {
  const bool on_stream = trace.tracks[trace.tracks_of_events()[id]].kind == TrackKind::stream;
  switch (trace.kinds()[id]) {
    case EventKind::range:
      switch (static_cast<RangeKind>(trace.details()[id])) {
        case RangeKind::annotation:
          return on_stream ? "gpu_user_annotation" : "user_annotation";
        case RangeKind::op:
          return "cpu_op";
        case RangeKind::python:
          return "python_function";
      }
      return "user_annotation";
    case EventKind::api:
      return trace.name(id).starts_with("cu") && !trace.name(id).starts_with("cuda")
                 ? "cuda_driver"
                 : "cuda_runtime";
    case EventKind::kernel:
    case EventKind::graph_launch:
      return "kernel";
    case EventKind::collective:
      return on_stream ? "kernel" : "user_annotation";
    case EventKind::memcpy:
      return "gpu_memcpy";
    case EventKind::memset:
      return "gpu_memset";
    case EventKind::sync:
    case EventKind::stream_wait:
      return "cuda_sync";
    case EventKind::event_record:
      return "cuda_event";
    case EventKind::overhead:
      return "overhead";
    case EventKind::alloc:
      return "cpu_instant_event";
    case EventKind::thread_wait:
    case EventKind::sample:
    case EventKind::counter:
    case EventKind::marker:
      return "user_annotation";
  }
  return "user_annotation";
}

std::string arguments(const Trace& trace, EventId id) {
  const Track& track = trace.tracks[trace.tracks_of_events()[id]];
  std::string out;
  const auto add = [&](std::string_view key, const std::string& value) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", json_text(key), value);
  };
  if (trace.correlations()[id] != 0) add("correlation", std::to_string(trace.correlations()[id]));
  if (track.kind == TrackKind::stream) {
    add("device", std::to_string(track.device));
    add("stream", std::to_string(track.id));
  }
  for (const Field& field : trace.payload(trace.payloads()[id])) {
    if (field.key == kKeyArgs) continue;  // part of the name
    const std::string_view key = field.key == kKeyExternalId ? "External id"
                                 : field.key < kKeyCount_    ? key_name(field.key)
                                                             : trace.text(field.key);
    if (track.kind == TrackKind::stream && (key == "device" || key == "stream")) continue;
    if (field.type == Field::Type::integer)
      add(key, std::to_string(field.integer));
    else if (field.type == Field::Type::real)
      add(key, dump(Json(field.real), -1));
    else
      add(key, json_text(trace.text(field.text)));
  }
  return "{" + out + "}";
}

class ChromeTarget : public ExportTarget {
 public:
  explicit ChromeTarget(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  Status add(const Trace& trace) override {
    file_->append("{\"schemaVersion\":1,\"baseTimeNanoseconds\":0,\"displayTimeUnit\":\"ms\",");
    if (!trace.processes.empty() && trace.processes[0].rank >= 0)
      file_->append(fmt::format("\"distributedInfo\":{{\"rank\":{},\"world_size\":{}}},",
                                trace.processes[0].rank, trace.processes[0].world_size));
    file_->append("\"traceEvents\":[\n");
    for (const Process& process : trace.processes)
      event(
          fmt::format("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"tid\":0,\"ts\":0,"
                      "\"args\":{{\"name\":{}}}}}",
                      process.pid, json_text(process.name)));
    for (EventId id = 0; id < trace.size(); ++id) write_event(trace, id);
    write_flows(trace);
    return ok_status();
  }

  Status finish(const Report* report) override {
    if (report != nullptr)
      for (const FindingInstant& instant : finding_instants(*report))
        event(
            fmt::format("{{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"finding\",\"name\":{},\"pid\":0,"
                        "\"tid\":0,\"ts\":{}}}",
                        json_text(instant.finding->title), microseconds(instant.at)));
    file_->append("\n]}\n");
    return file_->close();
  }

 private:
  void event(const std::string& text) {
    file_->append(first_ ? text : ",\n" + text);
    first_ = false;
  }

  static std::pair<int64_t, int64_t> row_of(const Trace& trace, EventId id) {
    const Track& track = trace.tracks[trace.tracks_of_events()[id]];
    if (track.kind == TrackKind::stream) return {track.device, track.id};
    return {trace.processes[track.process].pid, track.id};
  }

  void write_event(const Trace& trace, EventId id) {
    const auto [pid, tid] = row_of(trace, id);
    const EventKind kind = trace.kinds()[id];
    if (kind == EventKind::counter) {
      const std::optional<double> value = trace.number(id, kKeyValue);
      event(fmt::format(
          "{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"args\":{{\"value\":{}}}}}",
          json_text(trace.full_name(id)), pid, tid, microseconds(trace.starts()[id]),
          dump(value ? Json(*value) : Json(), -1)));
      return;
    }
    const bool instant =
        kind == EventKind::alloc || kind == EventKind::marker || kind == EventKind::sample;
    event(fmt::format(
        "{{\"ph\":\"{}\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},{}\"args\":{}}"
        "}",
        instant ? "i" : "X", category(trace, id), json_text(trace.full_name(id)), pid, tid,
        microseconds(trace.starts()[id]),
        instant ? "\"s\":\"t\"," : fmt::format("\"dur\":{},", microseconds(trace.durations()[id])),
        arguments(trace, id)));
  }

  /// An arrow from each call to the work it started.
  void write_flows(const Trace& trace) {
    std::map<std::pair<uint32_t, uint32_t>, EventId> calls;
    for (EventId id = 0; id < trace.size(); ++id)
      if (trace.kinds()[id] == EventKind::api && trace.correlations()[id] != 0)
        calls.try_emplace(
            {trace.tracks[trace.tracks_of_events()[id]].process, trace.correlations()[id]}, id);
    for (EventId id = 0; id < trace.size(); ++id) {
      const Track& track = trace.tracks[trace.tracks_of_events()[id]];
      if (track.kind != TrackKind::stream || trace.correlations()[id] == 0) continue;
      const auto call = calls.find({track.process, trace.correlations()[id]});
      if (call == calls.end()) continue;
      for (const bool begins : {true, false}) {
        const EventId at = begins ? call->second : id;
        const auto [pid, tid] = row_of(trace, at);
        event(
            fmt::format("{{\"ph\":\"{}\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":{},\"pid\":{},"
                        "\"tid\":{},\"ts\":{}{}}}",
                        begins ? "s" : "f", trace.correlations()[id], pid, tid,
                        microseconds(trace.starts()[at]), begins ? "" : ",\"bp\":\"e\""));
      }
    }
  }

  std::unique_ptr<OutputFile> file_;
  bool first_ = true;
};

const RegisterExporter chrome_registration({
    .name = "chrome",
    .file_name = "trace.json",
    .description = "Chrome trace JSON as PyTorch's profiler writes it",
    .many_traces = false,
    .open = [](const std::string& path) -> Result<std::unique_ptr<ExportTarget>> {
      auto file = OutputFile::create(path);
      if (!file) return file.error();
      return std::unique_ptr<ExportTarget>(new ChromeTarget(std::move(*file)));
    },
});

}  // namespace
}  // namespace stallscope
