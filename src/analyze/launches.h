// LaunchTable: from a correlation to the call that launched it, in one process.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace stallscope {

/// Where several calls carry one correlation because the id was used again, the last one that began
/// before the activity counts. A driver call inside the runtime's own call is no second one.
class LaunchTable {
 public:
  /// `rows`: the row ranges of the process's host threads.
  LaunchTable(const Trace& trace, std::span<const std::pair<EventId, EventId>> rows);

  /// The call that launched an activity which started at `time`, or UINT32_MAX.
  EventId find(uint32_t correlation, Ns time) const;
  bool has_device_calls() const { return has_device_calls_; }

 private:
  /// The earliest call of an id.
  EventId first_of(uint32_t correlation) const;
  void find_reused(const Trace& trace, std::vector<std::pair<uint32_t, EventId>> later);

  // Ids that are dense enough index a vector; else sorted pairs are searched.
  uint32_t lowest_ = 0;
  std::vector<EventId> dense_;
  std::vector<std::pair<uint32_t, EventId>> sorted_;
  struct Reused {
    uint32_t correlation = 0;
    Ns start = 0;
    EventId call = 0;
  };
  std::vector<Reused> reused_;  ///< later calls of ids used again, by id and start
  bool has_device_calls_ = false;
};

}  // namespace stallscope
