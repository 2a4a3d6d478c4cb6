// A SQLite database: events, tracks, stacks, steps and findings as tables.
#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdio>
#include <unordered_set>

#include "report/exporter.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr const char* kSchema = R"sql(
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE process(id INTEGER PRIMARY KEY, pid INTEGER, rank INTEGER, world_size INTEGER, host TEXT, name TEXT);
CREATE TABLE track(id INTEGER PRIMARY KEY, process INTEGER, kind TEXT, device INTEGER, number INTEGER, name TEXT);
CREATE TABLE event(id INTEGER PRIMARY KEY, kind TEXT, detail TEXT, name TEXT, start_ns INTEGER, duration_ns INTEGER,
  track INTEGER, correlation INTEGER, stack INTEGER, payload INTEGER);
CREATE TABLE frame(stack INTEGER, depth INTEGER, function TEXT, file TEXT, line INTEGER, module TEXT);
CREATE TABLE field(payload INTEGER, key TEXT, value);
CREATE TABLE step(rank INTEGER, pid INTEGER, device INTEGER, number INTEGER, start_ns INTEGER, end_ns INTEGER, use TEXT,
  class TEXT, class_ns INTEGER);
CREATE TABLE finding(position INTEGER PRIMARY KEY, rule TEXT, severity TEXT, status TEXT, title TEXT, file TEXT, line INTEGER,
  function TEXT, gain_low_ns INTEGER, gain_mid_ns INTEGER, gain_high_ns INTEGER, one_time_ns INTEGER, fingerprint TEXT);
BEGIN;
)sql";
constexpr const char* kEpilogue = R"sql(
COMMIT;
CREATE INDEX event_by_track ON event(track, start_ns);
CREATE VIEW event_with_place AS SELECT event.*, process.rank, process.pid, track.device, track.number AS thread_or_stream
  FROM event JOIN track ON event.track = track.id JOIN process ON track.process = process.id;
)sql";

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

/// A prepared INSERT; values are bound left to right.
class Insert {
 public:
  Insert(sqlite3* database, const char* table, int columns) : columns_(columns) {
    std::string sql = fmt::format("INSERT INTO {} VALUES(", table);
    for (int i = 0; i < columns; ++i) sql += i == 0 ? "?" : ",?";
    sqlite3_prepare_v2(database, (sql + ")").c_str(), -1, &statement_, nullptr);
  }
  ~Insert() { sqlite3_finalize(statement_); }
  Insert(const Insert&) = delete;
  Insert& operator=(const Insert&) = delete;

  Insert& text(std::string_view value) {
    const std::string safe = valid_utf8(value);
    sqlite3_bind_text(statement_, ++at_, safe.data(), static_cast<int>(safe.size()),
                      SQLITE_TRANSIENT);
    return done();
  }
  Insert& number(int64_t value) {
    sqlite3_bind_int64(statement_, ++at_, value);
    return done();
  }
  Insert& real(double value) {
    sqlite3_bind_double(statement_, ++at_, value);
    return done();
  }
  Insert& null() {
    sqlite3_bind_null(statement_, ++at_);
    return done();
  }
  Insert& known(int64_t value, bool is_known) { return is_known ? number(value) : null(); }

 private:
  /// Runs the statement when its last value is bound. A failure shows at COMMIT.
  Insert& done() {
    if (at_ == columns_) {
      sqlite3_step(statement_);
      sqlite3_reset(statement_);
      at_ = 0;
    }
    return *this;
  }
  sqlite3_stmt* statement_ = nullptr;
  int columns_;
  int at_ = 0;
};

class SqliteTarget : public ExportTarget {
 public:
  SqliteTarget(Database database, std::string path)
      : database_(std::move(database)), path_(std::move(path)) {}

  Status add(const Trace& trace) override {
    const int64_t first_process = processes_, first_track = tracks_;
    Insert process(database_.get(), "process", 6), track(database_.get(), "track", 6);
    for (const Process& p : trace.processes)
      process.number(processes_++)
          .number(p.pid)
          .known(p.rank, p.rank >= 0)
          .known(p.world_size, p.world_size > 0)
          .text(p.host)
          .text(p.name);
    for (const Track& t : trace.tracks)
      track.number(tracks_++)
          .number(first_process + t.process)
          .text(t.kind == TrackKind::thread ? "thread" : "stream")
          .known(t.device, t.device >= 0)
          .number(t.id)
          .text(trace.text(t.name));
    add_events(trace, first_track);
    return check();
  }

  Status finish(const Report* report) override {
    if (report != nullptr) {
      add_steps(*report);
      add_findings(*report);
    }
    sqlite3_exec(database_.get(), kEpilogue, nullptr, nullptr, nullptr);
    return check();
  }

 private:
  void add_events(const Trace& trace, int64_t first_track) {
    Insert event(database_.get(), "event", 10), frame(database_.get(), "frame", 6),
        field(database_.get(), "field", 3);
    // Ids of stacks and payloads are the trace's own, moved behind those of the traces before.
    int64_t last_stack = 0, last_payload = 0;
    std::unordered_set<uint32_t> stacks, payloads;
    for (EventId id = 0; id < trace.size(); ++id) {
      const StackId stack = trace.stacks()[id];
      const PayloadId payload = trace.payloads()[id];
      event.number(events_++)
          .text(to_string(trace.kinds()[id]))
          .text(detail_name(trace.kinds()[id], trace.details()[id]))
          .text(trace.full_name(id))
          .number(trace.starts()[id])
          .number(trace.durations()[id])
          .number(first_track + trace.tracks_of_events()[id])
          .known(trace.correlations()[id], trace.correlations()[id] != 0)
          .known(stacks_ + stack, stack != 0)
          .known(payloads_ + payload, payload != 0);
      if (stack != 0 && stacks.insert(stack).second) {
        int64_t depth = 0;
        for (const FrameId f : trace.stack(stack)) {
          const Frame& at = trace.frame(f);
          frame.number(stacks_ + stack)
              .number(depth++)
              .text(trace.text(at.function))
              .text(trace.text(at.file))
              .known(at.line, at.line != 0)
              .text(trace.text(at.module));
        }
      }
      if (payload != 0 && payloads.insert(payload).second)
        for (const Field& f : trace.payload(payload)) {
          field.number(payloads_ + payload)
              .text(f.key < kKeyCount_ ? key_name(f.key) : trace.text(f.key));
          if (f.type == Field::Type::integer)
            field.number(f.integer);
          else if (f.type == Field::Type::real)
            field.real(f.real);
          else
            field.text(trace.text(f.text));
        }
      last_stack = std::max<int64_t>(last_stack, stack);
      last_payload = std::max<int64_t>(last_payload, payload);
    }
    stacks_ += last_stack;
    payloads_ += last_payload;
  }

  void add_steps(const Report& report) {
    Insert row(database_.get(), "step", 9);
    for (const RankSummary& rank : report.summary.ranks)
      for (const Step& step : rank.steps)
        for (const StepClass c : step_classes())
          row.known(rank.rank, rank.rank >= 0)
              .number(rank.pid)
              .known(rank.device, rank.device >= 0)
              .number(step.index)
              .number(step.window_start)
              .number(step.window_end)
              .text(step_use_name(step.use))
              .text(to_string(c))
              .number(step.classes[c]);
  }

  void add_findings(const Report& report) {
    Insert row(database_.get(), "finding", 13);
    int64_t position = 0;
    for (const Finding& finding : report.findings) {
      const Place& place = primary_place(finding);
      const bool priced = finding.gain && finding.gain->step_time;
      const Gain::Range gain = priced ? *finding.gain->step_time : Gain::Range{};
      const bool once = finding.gain && finding.gain->one_time;
      row.number(++position)
          .text(finding.rule_id)
          .text(to_string(finding.severity))
          .text(to_string(finding.status))
          .text(finding.title)
          .text(place.file)
          .known(place.line, place.line > 0)
          .text(place.function)
          .known(gain.low, priced)
          .known(gain.mid, priced)
          .known(gain.high, priced)
          .known(once ? *finding.gain->one_time : 0, once)
          .text(finding.fingerprint);
    }
  }

  Status check() {
    const int code = sqlite3_errcode(database_.get());
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return ok_status();
    return Error{
        .message = std::string("cannot write the database: ") + sqlite3_errmsg(database_.get()),
        .file = path_};
  }

  Database database_;
  std::string path_;
  int64_t processes_ = 0, tracks_ = 0, events_ = 0, stacks_ = 0, payloads_ = 0;
};

const RegisterExporter sqlite_registration({
    .name = "sqlite",
    .file_name = "trace.sqlite",
    .description = "SQLite database with events, steps and findings",
    .many_traces = true,
    .open = [](const std::string& path) -> Result<std::unique_ptr<ExportTarget>> {
      std::remove(path.c_str());  // the command has asked before
      sqlite3* raw = nullptr;
      const int code = sqlite3_open(path.c_str(), &raw);
      Database database(raw);
      if (code != SQLITE_OK || sqlite3_exec(raw, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK)
        return Error{.message = std::string("cannot create the database: ") + sqlite3_errmsg(raw),
                     .file = path};
      return std::unique_ptr<ExportTarget>(new SqliteTarget(std::move(database), path));
    },
});

}  // namespace
}  // namespace stallscope
