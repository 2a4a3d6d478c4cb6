// StreamOrder: what a host-blocking call waited for, by the order of streams,
// events and waits between streams, not by overlap in time.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyze/first_by_key.h"
#include "analyze/process_index.h"

namespace stallscope {

class StreamOrder {
 public:
  StreamOrder(const ProcessIndex& index, const DeviceWork& work);

  /// The activity whose end let `call` return: the last one ordered before it on the streams it
  /// waits for, if it was still to end when the call began. kNoEvent when nothing was pending.
  EventId waited_for(EventId call) const;

  /// The first activity that a call launched, or kNoEvent.
  EventId launched_by(EventId call) const { return launched_.find(call); }
  /// The stream that a call addresses, as far as the trace tells; nullopt when unknown.
  std::optional<int64_t> stream_of(EventId call) const;

 private:
  struct Item {
    Ns issued = 0;  ///< latest launch up to here, so that it never decreases
    EventId activity = kNoEvent;
  };
  struct Wait {
    Ns issued = 0;
    EventId call = kNoEvent;
  };

  EventId last_before(int64_t stream, Ns time, int depth) const;
  EventId record_of(EventId waiting_call) const;
  std::optional<int64_t> awaited_stream(EventId waiting_call) const;
  EventId later(EventId a, EventId b) const;

  const ProcessIndex& index_;
  std::map<int64_t, std::vector<Item>> streams_;
  std::map<int64_t, std::vector<Wait>> waits_;  // stream waits by the stream that waits
  FirstByKey<EventId> launched_;                // copy call -> its activity
  FirstByKey<uint32_t> syncs_;                  // correlation -> the runtime's own record
  FirstByKey<uint32_t> record_calls_;           // correlation -> event record call
  std::unordered_map<int64_t, std::vector<EventId>> records_;  // event handle -> records, by start
};

}  // namespace stallscope
