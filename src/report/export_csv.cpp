// Events as CSV (RFC 4180), one row each, for spreadsheets and data frames.
#include <fmt/format.h>

#include "report/exporter.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

std::string cell(std::string_view text) {
  std::string safe = valid_utf8(text);
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string out = "\"";
  for (const char c : safe) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string number(int64_t value, bool known) {
  return known ? std::to_string(value) : "";
}

class CsvTarget : public ExportTarget {
 public:
  explicit CsvTarget(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {
    file_->append(
        "kind,detail,name,startNs,durationNs,rank,pid,tid,device,stream,correlation,bytes,function,"
        "file,line\r\n");
  }

  Status add(const Trace& trace) override {
    for (EventId id = 0; id < trace.size(); ++id) file_->append(row(trace, id));
    return ok_status();
  }

  Status finish(const Report*) override { return file_->close(); }

 private:
  static std::string row(const Trace& trace, EventId id) {
    const Track& track = trace.tracks[trace.tracks_of_events()[id]];
    const Process& process = trace.processes[track.process];
    const bool thread = track.kind == TrackKind::thread;
    const std::optional<int64_t> bytes = trace.integer(id, kKeyBytes);
    const std::span<const FrameId> stack = trace.stack(trace.stacks()[id]);
    const Frame innermost = stack.empty() ? Frame{} : trace.frame(stack[0]);
    return fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", to_string(trace.kinds()[id]),
        detail_name(trace.kinds()[id], trace.details()[id]), cell(trace.full_name(id)),
        trace.starts()[id], trace.durations()[id], number(process.rank, process.rank >= 0),
        process.pid, number(track.id, thread), number(track.device, !thread),
        number(track.id, !thread), number(trace.correlations()[id], trace.correlations()[id] != 0),
        number(bytes.value_or(0), bytes.has_value()), cell(trace.text(innermost.function)),
        cell(trace.text(innermost.file)), number(innermost.line, innermost.line != 0));
  }

  std::unique_ptr<OutputFile> file_;
};

const RegisterExporter csv_registration({
    .name = "csv",
    .file_name = "events.csv",
    .description = "events as comma-separated values, one row each",
    .many_traces = true,
    .open = [](const std::string& path) -> Result<std::unique_ptr<ExportTarget>> {
      auto file = OutputFile::create(path);
      if (!file) return file.error();
      return std::unique_ptr<ExportTarget>(new CsvTarget(std::move(*file)));
    },
});

}  // namespace
}  // namespace stallscope
