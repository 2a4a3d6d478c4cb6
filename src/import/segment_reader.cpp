#include "import/segment_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "import/segment_clock.h"
#include "import/segment_definitions.h"
#include "import/segment_events.h"
#include "import/segment_read.h"
#include "import/segment_source.h"

namespace stallscope {
namespace {

using segment::ChunkType;

std::string_view until_nul(const char* text, size_t capacity) {
  return {text, strnlen(text, capacity)};
}

std::string joined_command(const segment::FileHeader& header) {
  std::string command(header.command, sizeof header.command);
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  return command;
}

/// Reads a segment in passes: headers of chunks, definitions, records, open ranges.
class SegmentRecords {
 public:
  SegmentRecords(const SegmentSource& source, std::string path, Trace& trace,
                 const ImportOptions& options, const Symbolizer& symbolizer)
      : source_(source),
        path_(std::move(path)),
        trace_(trace),
        options_(options),
        symbolizer_(symbolizer),
        definitions_(trace) {}

  Result<SegmentContents> read() {
    if (const Status checked = read_header(); !checked) return checked.error();
    SegmentContents contents;
    contents.header = header_;
    contents.host = until_nul(header_.host, sizeof header_.host);
    contents.command = joined_command(header_);
    index_chunks();
    for (const auto& [sequence, chunk] : index_)
      if (types_[chunk] == ChunkType::definitions) read_definitions(chunk);
    SegmentClock clock(header_.clock, read_clock_points());
    contents.process = trace_.add_process(describe(contents));
    SegmentEvents events(trace_, contents.process, definitions_, clock, symbolizer_);
    size_t done = 0;
    for (const auto& [sequence, chunk] : index_) {
      if (types_[chunk] == ChunkType::records) read_records(chunk, events);
      if (options_.progress)
        options_.progress(static_cast<double>(++done) / static_cast<double>(index_.size()));
      if (events.count() > options_.max_events)
        return Error{.message = fmt::format("holds more than {} events", options_.max_events),
                     .file = path_};
    }
    for (const auto& [sequence, chunk] : index_)
      if (types_[chunk] == ChunkType::threads) read_open_ranges(chunk, events);
    events.finish();
    contents.events = events.count();
    contents.notes = definitions_.notes;
    const std::vector<segment::ClockPoint> points = read_clock_points();
    if (!points.empty())
      contents.realtime_offset = points.back().realtime_ns - points.back().monotonic_ns;
    contents.windows = capture_windows(clock);
    report_health(events, clock);
    return contents;
  }

 private:
  Status read_header() {
    const auto bad = [&](const std::string& why) {
      return Error{.message = why, .file = path_, .remedy = "record the run again"};
    };
    if (source_.size() < segment::kHeaderBytes)
      return bad("is too short to be a segment of a recording");
    std::array<unsigned char, sizeof header_> bytes{};
    if (!source_.read(0, bytes)) return bad("cannot be read");
    std::memcpy(&header_, bytes.data(), sizeof header_);
    if (header_.magic != segment::kMagic) return bad("is not a segment of a recording");
    if (header_.version != segment::kVersion)
      return bad(fmt::format("has segment version {}, this program reads {}", header_.version,
                             segment::kVersion));
    if (header_.header_bytes != segment::kHeaderBytes ||
        header_.chunk_bytes != segment::kChunkBytes)
      return bad("states chunk sizes that no version of the recorder writes");
    return ok_status();
  }

  void repair(const std::string& what, uint64_t times = 1) {
    if (times > 0) trace_.health.repairs[what] += times;
  }

  void index_chunks() {
    const uint64_t room = source_.size() - segment::kHeaderBytes;
    const uint64_t whole = room / segment::kChunkBytes;
    if (room % segment::kChunkBytes != 0) repair("segment ends within a chunk");
    types_.assign(whole, ChunkType::free);
    for (uint64_t chunk = 0; chunk < whole; ++chunk) {
      segment::ChunkHeader header{};
      std::array<unsigned char, sizeof header> bytes{};
      if (!source_.read(offset_of(chunk), bytes)) {
        repair("unreadable chunk");
        break;
      }
      std::memcpy(&header, bytes.data(), sizeof header);
      if (header.type == ChunkType::free) continue;
      if (header.type > ChunkType::threads || header.sequence == 0) {
        repair("chunk of an unknown kind");
        continue;
      }
      types_[chunk] = header.type;
      index_.emplace_back(header.sequence, chunk);
    }
    std::ranges::sort(index_);
  }

  static uint64_t offset_of(uint64_t chunk) {
    return segment::kHeaderBytes + chunk * segment::kChunkBytes;
  }

  bool load(uint64_t chunk) {
    if (source_.read(offset_of(chunk), buffer_.bytes)) return true;
    repair("unreadable chunk");
    return false;
  }

  std::span<const unsigned char> content() const {
    return std::span<const unsigned char>(buffer_.bytes).subspan(segment::kChunkHeaderBytes);
  }

  void read_definitions(uint64_t chunk) {
    if (!load(chunk)) return;
    RecordWalk walk(content(), buffer_.header().key, true);
    RecordView record;
    while (walk.next(record))
      if (!definitions_.add(record)) repair("damaged definition left out");
    if (walk.damaged()) repair("rest of a damaged chunk left out");
  }

  void read_records(uint64_t chunk, SegmentEvents& events) {
    if (!load(chunk)) return;
    RecordWalk walk(content(), buffer_.header().key, true);
    RecordView record;
    uint32_t tid = 0;
    while (walk.next(record)) {
      if (record.head.kind == segment::RecordKind::thread) {
        tid = record.head.extra;
      } else if (!events.add(record, tid)) {
        repair("record of an unknown kind left out");
      }
    }
    if (walk.damaged()) repair("rest of a damaged chunk left out");
  }

  void read_open_ranges(uint64_t chunk, SegmentEvents& events) {
    if (!load(chunk)) return;
    for (size_t i = 0; i < segment::kThreadsPerChunk; ++i) {
      const auto block =
          content().subspan(i * sizeof(segment::ThreadBlock), sizeof(segment::ThreadBlock));
      uint32_t tid = 0, used = 0;
      std::memcpy(&tid, block.data() + offsetof(segment::ThreadBlock, tid), sizeof tid);
      std::memcpy(&used, block.data() + offsetof(segment::ThreadBlock, used), sizeof used);
      if (tid == 0 || used == 0) continue;
      const auto open = block.subspan(offsetof(segment::ThreadBlock, open));
      if (used > open.size()) {
        repair("damaged list of open ranges left out");
        continue;
      }
      RecordWalk walk(open.first(used), 0, false);
      RecordView record;
      while (walk.next(record)) events.add_open(record, tid);
      if (walk.damaged()) repair("damaged list of open ranges left out");
    }
  }

  std::vector<segment::ClockPoint> read_clock_points() {
    const size_t count = std::min<size_t>(header_.clock_points, segment::kMaxClockPoints);
    std::vector<segment::ClockPoint> points(count);
    std::vector<unsigned char> bytes(count * sizeof(segment::ClockPoint));
    if (!source_.read(segment::kClockTableOffset, bytes)) return {};
    if (count > 0) std::memcpy(points.data(), bytes.data(), bytes.size());
    return points;
  }

  Process describe(const SegmentContents& contents) const {
    Process process;
    process.pid = header_.pid;
    process.rank = header_.rank;
    process.local_rank = header_.local_rank;
    process.world_size = header_.world_size;
    process.host = contents.host;
    process.name = contents.command;
    return process;
  }

  uint64_t last_clock_ticks() {
    const std::vector<segment::ClockPoint> points = read_clock_points();
    return points.empty() ? 0 : points.back().ticks;
  }

  // One that nothing closes lasts as long as the recording.
  void add_holes(SegmentClock& clock, uint64_t last_ticks) {
    std::vector<SegmentDefinitions::HoleMark> marks = definitions_.holes;
    std::ranges::stable_sort(marks, {}, &SegmentDefinitions::HoleMark::ticks);
    for (size_t i = 0; i < marks.size(); ++i) {
      if (!marks[i].opens) continue;
      const bool closed = i + 1 < marks.size() && !marks[i + 1].opens;
      const Ns start = clock.from_ticks(marks[i].ticks);
      const Ns end =
          clock.from_ticks(closed ? marks[i + 1].ticks : std::max(last_ticks, marks[i].ticks));
      trace_.health.holes.push_back({start, std::max<Ns>(end - start, 0), marks[i].reason});
    }
  }

  std::vector<CaptureWindow> capture_windows(SegmentClock& clock) const {
    std::vector<SegmentDefinitions::HoleMark> marks = definitions_.captures;
    std::ranges::stable_sort(marks, {}, &SegmentDefinitions::HoleMark::ticks);
    std::vector<CaptureWindow> windows;
    for (size_t i = 0; i < marks.size(); ++i) {
      if (!marks[i].opens) continue;
      const bool last = i + 1 == marks.size();
      windows.push_back({clock.from_ticks(marks[i].ticks),
                         last ? kOpenEnd : clock.from_ticks(marks[i + 1].ticks)});
    }
    return windows;
  }

  void report_health(const SegmentEvents& events, SegmentClock& clock) {
    TraceHealth& health = trace_.health;
    health.bytes_on_disk += source_.size();
    health.lost_records += header_.lost_records;
    health.discarded_oldest += header_.discarded_records;
    if (header_.state == segment::State::open) health.cut_short = true;
    repair("range without an end closed at the end of the recording", events.unclosed());
    repair("end of a range whose begin is missing left out", events.unmatched_ends());
    repair("contradictory clock reading left out", clock.contradictions());
    if (header_.discarded_records > 0 && clock.points() > 0) {
      const std::vector<segment::ClockPoint> points = read_clock_points();
      const Ns start = points.front().monotonic_ns;
      const Ns until = clock.from_ticks(header_.discarded_until);
      if (until > start)
        health.holes.push_back(
            {start, until - start, "the oldest events were given up to stay within --max-size"});
    }
    add_holes(clock, std::max(events.last_ticks(), last_clock_ticks()));
    health.clock_source = header_.clock == segment::ClockSource::tsc ? "tsc" : "monotonic";
    health.clock_residual_ns = std::max(health.clock_residual_ns, clock.residual_ns());
    const double own = static_cast<double>(header_.own_ticks) * clock.ns_per_tick() +
                       static_cast<double>(header_.own_helper_ns) +
                       static_cast<double>(header_.range_cost_ticks) * clock.ns_per_tick() *
                           static_cast<double>(events.count());
    health.recorder_own_ns = std::max(health.recorder_own_ns, 0.0) + own;
    for (const std::string& note : definitions_.notes) health.warnings.push_back(note);
  }

  const SegmentSource& source_;
  std::string path_;
  Trace& trace_;
  const ImportOptions& options_;
  const Symbolizer& symbolizer_;
  SegmentDefinitions definitions_;
  segment::FileHeader header_{};
  std::vector<ChunkType> types_;
  std::vector<std::pair<uint64_t, uint64_t>> index_;  // sequence, chunk
  SegmentChunk buffer_{};
};

}  // namespace

Result<SegmentContents> read_segment_source(const SegmentSource& source, const std::string& path,
                                            Trace& into, const ImportOptions& options,
                                            const Symbolizer& symbolizer) {
  const auto reader = std::make_unique<SegmentRecords>(source, path, into, options, symbolizer);
  return reader->read();
}

Result<SegmentContents> read_segment(const std::string& path, Trace& into,
                                     const ImportOptions& options, const Symbolizer& symbolizer) {
  const auto source = open_segment_file(path);
  if (!source) return source.error();
  return read_segment_source(**source, path, into, options, symbolizer);
}

}  // namespace stallscope
