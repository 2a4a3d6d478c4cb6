// Records become events of the trace.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "import/collective_waits.h"
#include "import/runtime_names.h"
#include "import/segment_clock.h"
#include "import/segment_definitions.h"
#include "import/segment_payload.h"

namespace stallscope {

/// Turns the records of one segment into events, in any order of chunks.
class SegmentEvents {
 public:
  SegmentEvents(Trace& trace, uint32_t process, SegmentDefinitions& definitions,
                SegmentClock& clock, const Symbolizer& symbolizer)
      : trace_(trace),
        process_(process),
        definitions_(definitions),
        clock_(clock),
        symbolizer_(symbolizer),
        collective_waits_(trace) {}

  /// One record of a thread. False when it is of no known kind.
  bool add(const RecordView& record, uint32_t tid);

  /// A range that thread `tid` had begun and not ended when the recording stopped.
  void add_open(const RecordView& record, uint32_t tid);

  /// Joins ranges that ended on another thread and closes those still open.
  void finish();

  uint64_t count() const { return count_; }
  uint64_t last_ticks() const { return last_ticks_; }
  uint64_t ranges() const { return ranges_; }
  uint64_t unclosed() const { return unclosed_; }
  uint64_t unmatched_ends() const { return unmatched_ends_; }
  TrackId thread_track(uint32_t tid);

 private:
  struct Started {
    uint32_t number;
    uint32_t tid;
    uint64_t ticks;
    Event event;
  };
  struct Ended {
    uint32_t number;
    uint64_t ticks;
    std::vector<Field> fields;
  };

  void add_range(const RecordView& record, uint32_t tid, bool instant);
  void add_event(const RecordView& record, uint32_t tid);
  /// Name, payload, stack and track of a range record; times are not set.
  Event describe(const RecordView& record, uint32_t tid, bool instant);
  void apply_schema(Event& event, std::string_view schema);
  PayloadId store_fields(const RecordView& record, StringId args);
  void push(const Event& event);

  Trace& trace_;
  uint32_t process_;
  SegmentDefinitions& definitions_;
  SegmentClock& clock_;
  const Symbolizer& symbolizer_;
  DecodedPayload payload_;
  std::unordered_map<uint32_t, TrackId> thread_tracks_;
  std::unordered_map<uint64_t, PayloadId> plain_payloads_;
  std::vector<Started> started_;
  std::vector<Ended> ended_;
  struct Last {
    uint64_t start = 0;
    uint32_t name = 0;
    uint8_t domain = 0;
  };
  std::unordered_map<uint32_t, Last> last_range_;
  std::vector<std::pair<uint64_t, Event>> open_;
  RuntimeNames runtime_names_;
  CollectiveWaits collective_waits_;
  std::vector<Event> untimed_;                     ///< event records
  std::unordered_map<uint32_t, Ns> record_calls_;  ///< correlation -> start of the call
  uint64_t last_ticks_ = 0;
  uint64_t count_ = 0, ranges_ = 0, unclosed_ = 0, unmatched_ends_ = 0;
};

}  // namespace stallscope
