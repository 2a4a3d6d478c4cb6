// Writes a large synthetic training run through the recorder's own writer, as a
// recorded program would: `stallscope run --no-report -o DIR -- record_synthetic EVENTS`.
// With `unique` behind it, ranges of which 99 % have a name of their own.
//
// Times begin now and reach beyond the writing, which is faster than the run it tells of.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "collect/clock.h"
#include "collect/definitions.h"
#include "collect/event_record.h"
#include "collect/range.h"
#include "collect/session.h"
#include "collect/stack.h"
#include "collect/thread.h"
#include "synthetic_trace.h"

using namespace stallscope;

namespace {

class Writer {
 public:
  Writer(const Trace& trace, uint64_t base) : trace_(trace), base_(base) {
    for (uint32_t i = 0; i < trace.strings.size(); ++i) {
      const std::string_view text = trace.text(i);
      names_.push_back(collect::intern(text.data(), text.size()));
    }
    for (const Track& track : trace.tracks)
      lanes_.push_back(track.kind == TrackKind::stream
                           ? collect::lane_number(track.device, 1, static_cast<uint64_t>(track.id))
                           : 0);
  }

  /// Everything on one thread's track; the first one also delivers the device's events.
  void write(TrackId thread, bool with_device) const {
    for (EventId id = 0; id < trace_.size(); ++id) {
      const TrackId track = trace_.tracks_of_events()[id];
      if (track == thread || (with_device && lanes_[track] != 0)) write_one(id, lanes_[track]);
    }
  }

 private:
  void write_one(EventId id, uint32_t lane) const {
    collect::EventRecord event(trace_.kinds()[id], trace_.details()[id]);
    event.name = names_[trace_.names()[id]];
    event.correlation = trace_.correlations()[id];
    event.lane = lane;
    const auto start = base_ + static_cast<uint64_t>(trace_.starts()[id]);
    event.set_ticks(start, start + static_cast<uint64_t>(trace_.durations()[id]));
    if (trace_.stacks()[id] != 0)
      event.stack = collect::take_stack(*collect::this_thread(), collect::kStackAlways);
    for (const Field& field : trace_.payload(trace_.payloads()[id])) {
      const Key key = static_cast<Key>(field.key);
      if (field.type == Field::Type::text)
        event.add_text(key, names_[field.text]);
      else
        event.add(key, field.integer);
    }
    event.write();
  }

  const Trace& trace_;
  uint64_t base_;
  std::vector<uint32_t> names_, lanes_;
};

void write_unique_ranges(size_t events) {
  for (size_t i = 0; i < events; ++i) {
    char name[32];
    const int bytes = i % 100 == 0 ? std::snprintf(name, sizeof name, "step")
                                   : std::snprintf(name, sizeof name, "aten::mul, op_id = %zu", i);
    collect::RangeText what;
    what.text = collect::resolve(name, static_cast<size_t>(bytes));
    collect::begin_range(what);
    collect::end_range(0, nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const size_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  if (!collect::prepare() || collect::session() == nullptr) {
    std::fputs("record_synthetic: not under `stallscope run`\n", stderr);
    return 2;
  }
  if (argc > 2 && std::strcmp(argv[2], "unique") == 0) {
    write_unique_ranges(events);
    return 0;
  }
  const Trace trace = synthetic_trace({.events = events});
  const Writer writer(trace, collect::ticks());
  std::vector<std::thread> threads;
  for (TrackId track = 0; track < trace.tracks.size(); ++track) {
    if (trace.tracks[track].kind != TrackKind::thread) continue;
    threads.emplace_back([&writer, track] { writer.write(track, track == 0); });
    threads.back().join();  // one after the other: the generator is not what is measured
  }
  return 0;
}
