// Copies events from one trace into another that has the same processes.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace stallscope {

/// `from` and `into` must outlive it.
class TraceMerger {
 public:
  TraceMerger(const Trace& from, Trace& into)
      : from_(from), into_(into), stacks_(from.stack_count()), tracks_(from.tracks.size()) {}

  /// All events whose process `into` has, at their time there: visit(event, process).
  template <typename Visit>
  void each(Ns realtime_offset, const Visit& visit) const {
    for (EventId id = 0; id < from_.size(); ++id) {
      Event event = from_.event(id);
      const std::optional<uint32_t> process = process_of(event.track);
      event.start -= realtime_offset;
      if (process) visit(event, *process);
    }
  }

  /// Adds an event that each() gave, with `more` fields in place of its own of the same keys.
  void add(Event event, uint32_t process, std::span<const Field> more = {});

 private:
  std::optional<uint32_t> process_of(TrackId id) const;
  TrackId track(TrackId id, uint32_t process);
  StringId text(StringId id);
  StackId stack(StackId id);
  PayloadId payload(PayloadId id);

  const Trace& from_;
  Trace& into_;
  std::unordered_map<StringId, StringId> texts_;
  std::vector<std::optional<StackId>> stacks_;
  std::vector<std::optional<TrackId>> tracks_;
  std::unordered_map<PayloadId, PayloadId> payloads_;
};

}  // namespace stallscope
