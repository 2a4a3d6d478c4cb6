// EventRecord: an event in the trace's own terms, as CUPTI and NCCL report them.
#pragma once

#include <stdint.h>

#include "collect/thread.h"
#include "trace/event.h"
#include "trace/segment_format.h"

namespace stallscope::collect {

/// One event, filled field by field and written once.
class EventRecord {
 public:
  EventRecord(EventKind kind, uint8_t detail);

  uint32_t name = 0;         ///< string number
  uint32_t correlation = 0;  ///< 0 = none
  uint32_t lane = 0;         ///< lane_number(); 0 = the writing thread's track
  uint32_t stack = 0;        ///< stack number; 0 = none

  /// Times as nanoseconds of CLOCK_REALTIME (what CUPTI gives on Linux).
  void set_realtime(uint64_t start_ns, uint64_t end_ns);
  /// Times in the recorder's ticks.
  void set_ticks(uint64_t start, uint64_t end);

  void add(Key key, int64_t value);
  void add_text(Key key, uint32_t string_number);

  /// Appends the record to the calling thread's chunk. False when it is lost (counted).
  bool write() const;

 private:
  static constexpr int kMaxFields = 16;
  EventKind kind_;
  uint8_t detail_;
  uint8_t flags_ = 0;
  uint64_t start_ = 0, duration_ = 0;
  int fields_ = 0;
  int words_ = 0;  ///< of 8 bytes, in `field_words_`
  uint64_t field_words_[kMaxFields * 2];
};

/// The number of a (device, context, stream), defined if new; 0 when the table is full.
uint32_t lane_number(int32_t device, uint32_t context, uint64_t stream);

}  // namespace stallscope::collect
